"""What the audit is for: a reading that a fault in the other one cannot blind."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.audit.stores import look, slugs

import indelible
from indelible import sealed
from indelible.errors import IntegrityError
from indelible.memory.governing import set_pin

if TYPE_CHECKING:
    from tests.support import Bench

SHARED = {"indelible", "indelible.errors", "indelible.light"}


def blind(*_: object, **__: object) -> None:
    """A bug put into `sealed.verify` on purpose: whatever is there is taken for what was sealed."""


@pytest.fixture
def edited(bench: Bench) -> Bench:
    """A store whose reader has accepted it, and in which a content was edited since."""
    set_pin(bench.memory(), None)
    bench.close()
    bench.sql("UPDATE record SET content = CAST('evil' AS BLOB) WHERE id = ?", bench.row_id(1))
    return bench


def test_an_edited_content_is_refused_by_both_readings(edited: Bench) -> None:
    with pytest.raises(IntegrityError):
        edited.memory().load("MEMORY.md")
    assert slugs(look(edited)) == {"altered-content"}


def test_a_bug_put_into_verify_on_purpose_is_caught_by_the_audit(
    edited: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = sealed.verify
    for name, module in list(sys.modules.items()):
        if name.startswith("indelible.") and getattr(module, "verify", None) is genuine:
            monkeypatch.setattr(module, "verify", blind)
    assert edited.memory().load("MEMORY.md").content == b"evil"
    (finding,) = look(edited).findings
    assert (finding.slug, finding.key, finding.seq) == ("altered-content", "MEMORY.md", 1)


def test_a_bug_put_into_the_parsing_of_entries_is_caught_by_the_audit(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that lets any spelling through: the follower takes the entry, the audit does not."""
    import json

    from indelible.audit.grammar import PAYLOAD_TYPE
    from indelible.entry import SHAPES
    from indelible.seal.note import pae
    from indelible.store import follow

    def lax(body: bytes) -> object:
        members = json.loads(body)
        return next(shape for shape in SHAPES if set(shape._fields) == set(members))(**members)

    leaves = bench.leaves()
    body = leaves[-1][:-64].replace(b'{"at"', b'{ "at"')
    leaves[-1] = body + bench.signer.sign_raw(pae(PAYLOAD_TYPE, body))
    bench.forge(leaves, bench.signer)
    monkeypatch.setattr(follow, "parse_entry", lax)
    set_pin(bench.memory(), None)
    assert "bad-entry" in slugs(look(bench))


def test_the_audit_loads_nothing_of_ours_but_the_ground_floor() -> None:
    code = "import sys, indelible.audit; print(*(name for name in sys.modules if name.split('.')[0] == 'indelible'))"
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(indelible.__file__))}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.split())
    assert "indelible.audit.check" in loaded
    assert {name for name in loaded if not name.startswith(("indelible.audit", "indelible.seal"))} == SHARED
