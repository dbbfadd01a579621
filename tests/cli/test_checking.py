"""audit, checkpoint and proof."""

from __future__ import annotations

import pytest
from tests.cli.hands import Kept, refused, said


def test_an_audit_of_a_sound_store(kept: Kept) -> None:
    kept.save("other", b"x")
    ran = kept.run("audit")
    assert ran.code == 0
    assert "✅ default: 2 entries, 2 memories, 2 versions, root " in ran.out
    document = said(kept.run("audit", "--json"))
    assert document["slug"] == "sound"
    assert said(kept.run("audit", "--hashes-only", "--json"))["slug"] == "sound"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_audit_names_every_alteration(kept: Kept, form: tuple[str, ...]) -> None:
    kept.save("other", b"x")
    kept.save("gone", b"x")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT min(id) FROM record)", b"evil")
    kept.sql("DELETE FROM record WHERE id = (SELECT max(id) FROM record)")
    ran = kept.run("audit", *form)
    assert ran.code == 2
    assert "MEMORY.md" in ran.out
    assert "gone" in ran.out
    if form:
        said(ran)
    else:
        assert "altered-content" in ran.out
        assert "missing-record" in ran.out


def test_an_audit_finds_what_was_rolled_back_behind_the_pin(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    ran = kept.run("audit")
    assert ran.code == 2
    assert "rolled-back" in ran.out


def test_an_audit_is_of_one_agent_unless_told_otherwise(kept: Kept) -> None:
    assert kept.run("save", "k", "--agent", "bob", input=b"x").code == 0
    assert "bob" not in kept.run("audit").out
    both = kept.run("audit", "--all-agents")
    assert both.code == 0
    assert "bob: 1 entry" in both.out
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT max(id) FROM record)", b"evil")
    assert kept.run("audit").code == 0
    assert kept.run("audit", "--all-agents").code == 2


def test_an_audit_without_a_pin_says_that_rollback_was_not_checked(kept: Kept) -> None:
    kept.be_new()
    ran = kept.run("audit")
    assert ran.code == 0
    assert "rollback" in ran.out + ran.err


def test_an_audit_of_what_is_not_there_says_so(kept: Kept) -> None:
    refused(kept.run("audit", "--store", "/nowhere/store.db"), 3, "/nowhere/store.db")
    env = {"INDELIBLE_API_KEY": "x" * 20, "no_proxy": "*"}
    refused(kept.run("audit", "--store", "http://127.0.0.1:1", env=env), 1, "cannot be reached")


def test_an_audit_of_a_store_of_a_newer_format_is_no_accusation(kept: Kept) -> None:
    kept.sql("PRAGMA user_version = 99")
    ran = kept.run("audit")
    assert ran.code == 1, ran.out
    assert "format 99" in ran.out + ran.err


# checkpoint


def test_a_checkpoint_is_a_signed_note_that_another_reader_can_take_as_pin(kept: Kept) -> None:
    ran = kept.run("checkpoint")
    lines = ran.out.split("\n")
    assert ran.code == 0
    assert lines[:2] == ["indelible/local/default", "1"]
    assert lines[3] == ""
    assert lines[4].startswith("— indelible/local/default ")
    assert said(kept.run("checkpoint", "--json"))["note"] == ran.out
    assert kept.run("checkpoint", "-o", "pin").code == 0
    assert (kept.work / "pin").read_text(encoding="utf-8") == ran.out
    kept.save("MEMORY.md", b"second\n")
    kept.be_new()
    assert kept.run("verify", "MEMORY.md", env={"INDELIBLE_PIN": "pin"}).err == ""


def test_there_is_no_checkpoint_of_nothing(kept: Kept) -> None:
    refused(kept.run("checkpoint", "--agent", "nobody"), 3)


# proof


def test_a_proof_can_be_checked_offline(kept: Kept) -> None:
    kept.save("other", b"x")
    assert kept.run("proof", "MEMORY.md", "-o", "proof").code == 0
    text = (kept.work / "proof").read_text(encoding="utf-8")
    assert text.startswith("c2sp.org/tlog-proof@v1\nextra ")
    kept.remove()
    ran = kept.run("proof", "--check", "proof")
    assert ran.code == 0, ran.err
    assert "entry 0 of indelible/local/default (saved MEMORY.md" in ran.out
    assert "signed log of 2 entries" in ran.out
    document = said(kept.run("proof", "--check", "proof", "--json"))
    assert (document["slug"], document["size"], document["entry"]["key"]) == ("proven", 2, "MEMORY.md")


def test_an_older_version_can_be_proven(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    assert "index 0\n" in kept.run("proof", "MEMORY.md", "--version", "1").out
    assert "index 1\n" in kept.run("proof", "MEMORY.md").out
    refused(kept.run("proof", "MEMORY.md", "--version", "9"), 3)
    refused(kept.run("proof", "nothing"), 3)


def test_a_proof_that_was_changed_proves_nothing(kept: Kept) -> None:
    kept.save("other", b"x")
    text = kept.run("proof", "MEMORY.md").out
    index, extra = "index 0", text.split("\n")[1]
    changed = {
        "index": text.replace(index, "index 1"),
        "size": text.replace("\n2\n", "\n3\n"),
        "entry": text.replace(extra, extra[:20] + ("A" if extra[20] != "A" else "B") + extra[21:]),
        "signature": text[:-8] + ("A" if text[-8] != "A" else "B") + text[-7:],
        "cut": text[: len(text) // 2],
    }
    for name, data in changed.items():
        (kept.work / name).write_text(data, encoding="utf-8")
        refused(kept.run("proof", "--check", name), 2)


def test_a_proof_by_a_key_that_is_not_known_is_not_believed(kept: Kept) -> None:
    assert kept.run("proof", "MEMORY.md", "-o", "proof").code == 0
    stranger = {"XDG_CONFIG_HOME": str(kept.home / "stranger")}
    vkey = kept.run("key", "show").out.strip()
    refused(kept.run("proof", "--check", "proof", env=stranger), 1, "indelible key trust")
    assert kept.run("key", "trust", vkey, env=stranger).code == 0
    assert kept.run("proof", "--check", "proof", env=stranger).code == 0


@pytest.mark.parametrize("words", [(), ("MEMORY.md", "--check", "x"), ("--check", "nowhere")])
def test_a_proof_asked_for_wrongly(kept: Kept, words: tuple[str, ...]) -> None:
    refused(kept.run("proof", *words), 64)
