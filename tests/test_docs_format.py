"""docs/format.md says what is so: its examples are recomputed, and every command on the page is run."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import Bench, bench_at

from indelible.audit import SLUGS
from indelible.audit.grammar import parse_entry
from indelible.entry import PAYLOAD_TYPE, TYPES
from indelible.entry import parse_entry as first_reading
from indelible.record import Record
from indelible.seal import checkpoint
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN, commit
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Signer, Verifier, open_note, pae, parse_note
from indelible.store.schema import APPLICATION_ID, FORMAT, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "format.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
EROS = Signer("indelible/local/eros", bytes(range(32)))
OWNER = Signer("indelible-owner/kim", bytes(range(64, 96)))
SALT = bytes(range(32, 64))
CONTENT = "- 배포는 금요일에 하지 않는다\n".encode()
TOOLS = ("bash", "sha256sum", "xxd", "base64", "openssl", "sed", "cut", "seq")


def block(label: str) -> bytes:
    """The one example with that label, without its last newline."""
    (found,) = [text for _, name, text in BLOCKS if name == label]
    return str(found).removesuffix("\n").encode()


def leaf(label: str, signer: Signer = EROS) -> bytes:
    body = block(label)
    return body + signer.sign_raw(pae(PAYLOAD_TYPE, body))


# The examples.


def test_the_verifier_key_is_that_of_the_seed() -> None:
    assert block("vkey").decode() == EROS.vkey


@pytest.mark.parametrize("label", ["saved", "archived", "key-revoked"])
def test_the_entries_are_read_by_both_readings(label: str) -> None:
    body = block(label)
    assert parse_entry(body).type == first_reading(body).type == label
    assert f'"by":"{(OWNER if label == "key-revoked" else EROS).key_id:08x}"'.encode() in body


def test_the_signature_is_over_the_entry() -> None:
    signature = bytes.fromhex(block("signature").decode())
    assert leaf("saved")[-64:] == signature
    assert Verifier(EROS.vkey).verify_raw(pae(PAYLOAD_TYPE, block("saved")), signature)
    assert f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} " in TEXT


def test_the_second_entry_continues_the_first() -> None:
    assert parse_entry(block("archived")).prev == leaf_hash(leaf("saved"))


def test_the_root_is_that_of_the_two_entries() -> None:
    assert root_of([leaf_hash(leaf("saved")), leaf_hash(leaf("archived"))]).hex() == block("root").decode()
    for label in ("saved", "archived"):
        assert f"`{leaf_hash(leaf(label)).hex()[:8]}…`" in TEXT


def test_the_head_is_signed_over_that_root() -> None:
    note, signed = open_note(block("checkpoint") + b"\n", (Verifier(EROS.vkey),))
    head = checkpoint.parse(note.text)
    assert (head.origin, head.size, head.root.hex()) == (EROS.name, 2, block("root").decode())
    assert len(signed) == 1


def test_the_commitments_are_those_of_content_and_body() -> None:
    entry = parse_entry(block("saved"))
    assert entry.content == commit(CONTENT_DOMAIN, SALT, CONTENT)
    assert entry.record == commit(RECORD_DOMAIN, SALT, block("body"))
    assert Record.from_body(block("body")).key == "MEMORY.md"
    assert "- 배포는 금요일에 하지 않는다" in TEXT


def test_the_schema_is_the_one_that_is_made() -> None:
    made, written = "".join("".join(STEPS).split()), "".join(block("schema").decode().split())
    assert made == written
    assert f"0x{APPLICATION_ID:X}" in TEXT
    assert f"is the format, {FORMAT}." in TEXT


def test_every_type_of_entry_and_every_finding_is_on_the_page() -> None:
    assert {name for name in (*TYPES, *SLUGS) if f"`{name}`" not in TEXT} == set()


def test_warnings_are_marked_as_such() -> None:
    warnings = {slug for slug, kind in SLUGS.items() if kind.severity == "warning"}
    assert set(re.findall(r"^\| `([\w-]+)` \| \*warning:\*", TEXT, re.MULTILINE)) == warnings


# The commands.


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Bench]:
    """A small store in `.indelible`, still in use, and the agent's verifier key beside it."""
    bench = bench_at(tmp_path)
    os.symlink("store", tmp_path / ".indelible")
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", CONTENT)
    memory.save("MEMORY.md", b"- \xf0\x9f\x9a\xa2 only on Tuesdays\n")
    memory.save("binary", bytes(range(256)))
    memory.save("secret.md", b"gone for good")
    memory.erase("secret.md", reason="asked for")
    memory.archive("binary")
    memory.save("notes/7.md", b"")
    (tmp_path / "eros.vkey").write_text(bench.signer.vkey + "\n", encoding="utf-8")
    yield bench
    bench.close()


def missing(variant: str) -> str:
    """Why the commands cannot be run here; empty if they can."""
    gone = [tool for tool in (*TOOLS, variant) if shutil.which(tool) is None]
    if gone:
        return f"not installed here: {', '.join(gone)}"
    openssl = subprocess.run(["openssl", "version"], capture_output=True, text=True, check=True).stdout
    if not re.match(r"OpenSSL [3-9]", openssl):
        return f"the page asks for OpenSSL 3.0 or newer; here is {openssl.strip()}"
    version = sqlite3.sqlite_version
    if variant == "sqlite3":
        version = subprocess.run(["sqlite3", "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    if tuple(map(int, version.split(".")[:2])) < (3, 37):
        return f"the page asks for SQLite 3.37 or newer; here is {version}"
    return ""


@pytest.fixture(params=["sqlite3", "python3"])
def commands(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every command of the page, with SQLite from one program or from the other."""
    variant = str(request.param)
    monkeypatch.setenv("PATH", os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if why := missing(variant):
        pytest.skip(why)
    chosen = [text for language, name, text in BLOCKS if language == "bash" and name in ("", variant)]
    assert len(chosen) > 10
    return "".join(chosen)


def run(bench: Bench, script: str, *, strict: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the commands as somebody would type them, and stop at the first that fails."""
    options = ["-euo", "pipefail"] if strict else []
    return subprocess.run(
        ["bash", *options, "-c", script], cwd=bench.root, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_commands_find_a_good_store_good(store: Bench, commands: str) -> None:
    ended = run(store, commands)
    assert (ended.returncode, ended.stderr) == (0, "")
    said = ended.stdout.splitlines()
    assert "eros|7 entries" in said
    assert said.count("Signature Verified Successfully") == 2
    for line in ("the log is that of eros", "the size is the number of entries", "the root is that of the entries"):
        assert line in said
    assert [line for line in said if line.startswith("version")] == [
        f"version at entry {n}: as it was sealed" for n in (0, 1, 2, 6)
    ]
    assert [line for line in said if line.startswith("entry")] == [f"entry {n}: signed by eros" for n in range(7)]
    leaves = [leaf_hash(one) for one in store.leaves()]
    assert root_of(leaves).hex() in said
    assert said[-1] == checkpoint.Checkpoint("o", 2, root_of(leaves[:2])).format().decode().splitlines()[2]


def test_the_commands_stop_at_a_content_that_was_edited(store: Bench, commands: str) -> None:
    store.sql("UPDATE record SET content = x'00' WHERE id = ?", store.row_id(0))
    assert run(store, commands).returncode != 0
    shutil.rmtree(os.path.join(store.root, "audit"))
    assert "version at entry 0: ALTERED" in run(store, commands, strict=False).stdout


def test_the_commands_notice_an_entry_that_was_edited(store: Bench, commands: str) -> None:
    other = store.leaf(2).replace(b'"how":"saved"', b'"how":"force"')
    store.sql("UPDATE entry SET leaf = ? WHERE id = ?", other, store.row_id(2))
    said = run(store, commands, strict=False).stdout
    assert "the root is that of the entries" not in said
    assert "entry 2: NOT SIGNED by eros" in said


def test_the_commands_notice_a_head_by_somebody_else(store: Bench, commands: str) -> None:
    store.forge(store.leaves(), Signer(store.origin, sha256(b"somebody else").digest()))
    ended = run(store, commands)
    assert ended.returncode != 0
    assert "the root is that of the entries" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "Signature Verification Failure"


def test_a_note_verifier_takes_the_head_and_the_key_as_they_are(store: Bench) -> None:
    note = store.sql("SELECT note FROM log")[0][0]
    key = (Path(store.root) / "eros.vkey").read_text(encoding="utf-8").strip()
    assert open_note(note, (Verifier(key),))[0] == parse_note(note)
