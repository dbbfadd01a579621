"""verify: what a session opening runs, in its short path and in its long one.

ADR 0003 promises that both spellings say the same. `verify KEY` takes the path without click;
a `--` before the key is left to click.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, refused, said, sha256

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ran, Run

DIGEST = sha256(FIRST)


def both(kept: Kept, *words: str | Path, env: dict[str, str] | None = None, stdin: bytes = b"") -> Ran:
    """Run `verify WORDS` through both paths, which must say the same; the long one first, so that neither pins for the other."""
    split = next((number for number, word in enumerate(words) if not str(word).startswith("-")), len(words))
    slow = kept.run("verify", *words[:split], "--", *words[split:], env=env, input=stdin)
    fast = kept.run("verify", *words, env=env, input=stdin)
    assert fast == slow
    return fast


def test_a_good_memory_is_one_line_with_its_digest(kept: Kept) -> None:
    ran = both(kept, "MEMORY.md")
    assert (ran.code, ran.out, ran.err) == (0, f"✅ verified  sha256:{DIGEST}  MEMORY.md (version 1, default)\n", "")


def test_in_korean_it_is_the_seeds_line(kept: Kept) -> None:
    for variable in ("LANG", "LC_ALL", "LC_MESSAGES"):
        ran = both(kept, "MEMORY.md", env={"LANG": "C.UTF-8", variable: "ko_KR.UTF-8"})
        assert ran.out == f"✅ 검증 통과  sha256:{DIGEST}  MEMORY.md (version 1, default)\n"
    kept.alter()
    ran = both(kept, "MEMORY.md", env={"LANG": "ko_KR.UTF-8"})
    assert ran.code == 2
    assert ran.out == "❌ 변조 감지 — 복원 중단 권고: MEMORY.md\n"


def test_a_tampered_memory_is_one_line_with_the_advice_not_to_restore(kept: Kept) -> None:
    kept.alter()
    ran = both(kept, "MEMORY.md")
    assert ran.out == "❌ tampering found — do not restore from this store: MEMORY.md\n"
    refused(ran, 2, "MEMORY.md", "indelible incident")
    document = said(both(kept, "--json", "MEMORY.md"))
    assert (document["slug"], document["key"]) == ("digest-mismatch", "MEMORY.md")


def cut(kept: Kept) -> None:
    kept.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    os.truncate(kept.store, 5000)


ALTERATIONS: dict[str, Callable[[Kept], object]] = {
    "content": lambda kept: kept.alter(),
    "record": lambda kept: kept.sql("UPDATE record SET body = CAST(replace(body, 'fact', 'rule') AS BLOB)"),
    "salt": lambda kept: kept.sql("UPDATE record SET salt = zeroblob(32)"),
    "gone": lambda kept: kept.sql("DELETE FROM record"),
    "head": lambda kept: kept.sql("UPDATE log SET note = ?", b"indelible/local/default\n9\n"),
    "log": lambda kept: kept.sql("DELETE FROM log"),
    "empty": lambda kept: kept.sql("UPDATE record SET content = zeroblob(0)"),
    "cut": cut,
    "removed": lambda kept: kept.remove(),
}


@pytest.mark.parametrize("how", ALTERATIONS)
def test_an_altered_store_is_2_on_both_paths(kept: Kept, how: str) -> None:
    kept.run("verify", "MEMORY.md")
    ALTERATIONS[how](kept)
    for words in (("MEMORY.md",), ("--json", "MEMORY.md")):
        ran = both(kept, *words)
        assert ran.code in (0, 2) if how == "head" else ran.code == 2, ran
        assert "Traceback" not in ran.err


def test_a_rolled_back_store_is_2_on_both_paths(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    ran = both(kept, "MEMORY.md")
    assert ran.code == 2
    assert "already accepted 2" in ran.err
    assert said(both(kept, "--json", "MEMORY.md"))["slug"] == "rolled-back"


SPELLINGS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("nothing",), 3),
    (("MEMORY.md", "nowhere"), 64),
    (("MEMORY.md", "."), 64),
    (("--strict", "MEMORY.md"), 0),
    (("--json", "MEMORY.md"), 0),
    (("--json", "--strict", "MEMORY.md"), 0),
    (("--json", "nothing"), 3),
    (("--agent", "other", "MEMORY.md"), 3),
    (("--agent=other", "MEMORY.md"), 3),
    (("--store", "/nowhere/store.db", "MEMORY.md"), 3),
    (("--store=", "MEMORY.md"), 64),
    (("--agent", "", "MEMORY.md"), 64),
    (("", ), 64),
    (("a" * 600,), 64),
    (("MEMORY.md", "one", "two"), 64),
    ((), 64),
)  # fmt: skip


@pytest.mark.parametrize(("words", "code"), SPELLINGS)
def test_every_spelling_is_answered_alike_on_both_paths(kept: Kept, words: tuple[str, ...], code: int) -> None:
    valued = {"--agent", "--store"}
    flags: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("--"):
        flags.append(rest.pop(0))
        if flags[-1] in valued:
            flags.append(rest.pop(0))
    slow = kept.run("verify", *flags, "--", *rest)
    fast = kept.run("verify", *flags, *rest)
    assert fast == slow
    assert fast.code == code, fast
    assert "Traceback" not in fast.err


def test_options_may_stand_anywhere(kept: Kept) -> None:
    expected = kept.run("verify", "--json", "--agent", "default", "--", "MEMORY.md")
    for words in (
        ("--json", "--agent", "default", "verify", "MEMORY.md"),
        ("verify", "MEMORY.md", "--json", "--agent=default"),
        ("--agent=default", "verify", "--json", "MEMORY.md"),
        ("verify", "--agent", "default", "MEMORY.md", "--json"),
    ):
        assert kept.run(*words) == expected


def test_a_key_that_looks_like_an_option_is_named_after_two_dashes(kept: Kept) -> None:
    kept.save("--json", b"odd\n")
    kept.save("verify", b"even\n")
    assert sha256(b"odd\n") in kept.run("verify", "--", "--json").out
    assert sha256(b"even\n") in both(kept, "verify").out


# A local copy.


def test_a_local_copy_that_is_the_same(kept: Kept) -> None:
    kept.file("copy.md", FIRST)
    ran = both(kept, "MEMORY.md", "copy.md")
    assert (ran.code, ran.out) == (
        0,
        f"✅ verified  sha256:{DIGEST}  MEMORY.md (version 1, default); copy.md is the same\n",
    )
    piped = both(kept, "MEMORY.md", "-", stdin=FIRST)
    assert (piped.code, "the same" in piped.out) == (0, True)


@pytest.mark.parametrize("local", [FIRST.replace(b"\n", b"\r\n"), FIRST.replace(b"\n", b"\r")])
def test_a_local_copy_with_other_line_endings_is_neither_good_nor_tampered(kept: Kept, local: bytes) -> None:
    kept.file("copy.md", local)
    ran = both(kept, "MEMORY.md", "copy.md")
    assert ran.code == 5
    assert "line endings only" in ran.out
    assert "tamper" not in ran.out.lower()
    assert f"✅ verified  sha256:{DIGEST}" in ran.out, "the stored copy itself is well"
    document = said(both(kept, "--json", "MEMORY.md", "copy.md"))
    assert (document["slug"], document["local"], document["local_sha256"]) == (
        "line-endings",
        "line-endings",
        sha256(local),
    )


@pytest.mark.parametrize("local", [b"", FIRST + b"\n", FIRST[:-1], FIRST.replace(b"-", b"*"), b"\xef\xbb\xbf" + FIRST])
def test_an_edited_local_copy_is_2_and_the_stored_one_is_said_to_be_well(kept: Kept, local: bytes) -> None:
    kept.file("copy.md", local)
    ran = both(kept, "MEMORY.md", "copy.md")
    assert ran.code == 2
    assert f"✅ verified  sha256:{DIGEST}" in ran.out
    assert "copy.md is not what was sealed" in ran.out
    assert "indelible diff MEMORY.md copy.md" in ran.out
    assert said(both(kept, "--json", "MEMORY.md", "copy.md"))["slug"] == "local-differs"


# What is said beside.


def test_a_first_look_says_that_rollback_was_not_checked(kept: Kept) -> None:
    kept.be_new()
    ran = both(kept, "MEMORY.md")
    assert ran.code == 0
    assert "rollback not checked" in ran.err
    assert said(both(kept, "--json", "MEMORY.md"))["rollback_checked"] is False


@pytest.mark.parametrize("state", ["archived", "expired"])
def test_verify_ignores_the_gate_and_says_that_load_does_not(kept: Kept, state: str) -> None:
    if state == "archived":
        assert kept.run("archive", "MEMORY.md").code == 0
    else:
        kept.save("MEMORY.md", FIRST, "--expires", "2020-01-01")
    ran = both(kept, "MEMORY.md")
    assert ran.code == 0
    assert f"{state}: verified, but not handed out" in ran.err


def test_without_a_store_it_is_not_found_and_says_how_to_make_one(run: Run) -> None:
    ran = run("verify", "MEMORY.md")
    refused(ran, 3, "indelible init")
    assert ran.stdout == b"", "nothing that could be read as verified"


def test_strict_is_no_different_for_a_sealed_memory(kept: Kept) -> None:
    assert both(kept, "--strict", "MEMORY.md").code == 0


def test_the_exit_code_of_a_check_that_could_not_be_done_is_not_0(kept: Kept) -> None:
    kept.lose_pin()
    ran = both(kept, "MEMORY.md")
    refused(ran, 1, "pin")
    assert ran.stdout == b""
    assert said(both(kept, "--json", "MEMORY.md"))["slug"] == "pin-lost"


def test_verify_tells_of_each_memory_by_itself(kept: Kept) -> None:
    kept.save("other", b"other\n")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", b"evil")
    assert both(kept, "MEMORY.md").code == 0
    assert both(kept, "other").code == 2


def test_json_is_the_same_document_as_the_line(kept: Kept) -> None:
    document = said(kept.run("verify", "--json", "MEMORY.md"))
    assert document == {
        "ok": True, "exit_code": 0, "slug": "verified", "key": "MEMORY.md", "agent": "default", "version": 1, "sha256": DIGEST,
        "checksum_ok": True, "local": "", "local_sha256": "", "state": "active", "attested": "agent", "rollback_checked": True, "notes": [],
    }  # fmt: skip
    assert json.dumps(document)
