"""O-INT: bytes and checksums, from a file on the disk through the command line and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import CASES, FIRST, Kept, git, refused, said, sha256

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(path.name for path in CASES.glob("int_*.md"))
DIGESTS = {
    name: digest
    for digest, name in (line.split() for line in (CASES / "SHA256SUMS").read_text(encoding="ascii").splitlines())
}


def test_the_cases_are_as_they_were_collected() -> None:
    for name in FILES:
        assert sha256((CASES / name).read_bytes()) == DIGESTS[name], f"a checkout changed {name}"


@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_back_byte_for_byte_and_verifies(kept: Kept, name: str) -> None:
    """O-INT-01, 02, 04, 05a and 06: CRLF, final newlines, normal forms, nothing at all, odd separators."""
    source = CASES / name
    saved = said(kept.run("save", name, source, "--json"))
    assert saved["sha256"] == DIGESTS[name]
    assert saved["bytes"] == source.stat().st_size
    back = kept.work / "back"
    assert kept.run("load", name, "-o", back).code == 0
    assert back.read_bytes() == source.read_bytes()
    ran = kept.run("verify", name, back)
    assert ran.code == 0
    assert f"sha256:{DIGESTS[name]}" in ran.out


@pytest.mark.parametrize("name", [name for name in FILES if name != "int_empty.md"])
def test_the_embedded_form_keeps_every_character(kept: Kept, name: str) -> None:
    """O-INT-06, embedded: nothing between the file and the JSON splits lines."""
    import json

    assert kept.run("save", name, CASES / name, "--embed").code == 0
    value = json.loads(kept.load(name))
    assert value["text"].encode() == (CASES / name).read_bytes()
    assert value["checksum"] == f"sha256:{DIGESTS[name]}"


def test_the_same_words_with_other_final_newlines_are_three_memories(kept: Kept) -> None:
    """O-INT-02."""
    names = ["int_nonl.md", "int_lf.md", "int_two_nl.md"]
    assert len({kept.save(name, (CASES / name).read_bytes()) for name in names}) == 3
    first, second, _ = ((CASES / name).read_bytes() for name in names)
    kept.sql("UPDATE record SET content = ? WHERE content = ?", second, first)
    refused(kept.run("verify", names[0]), 2)
    assert kept.run("verify", names[1]).code == 0


def test_a_checkout_that_rewrites_line_endings_is_told_from_an_edit(repo: Kept) -> None:
    """O-INT-03: core.autocrlf, with a real repository."""
    git(repo.work, "config", "core.autocrlf", "true")
    (repo.work / "MEMORY.md").unlink()
    git(repo.work, "checkout", "-q", "--", "MEMORY.md")
    assert (repo.work / "MEMORY.md").read_bytes() == FIRST.replace(b"\n", b"\r\n"), "git did rewrite it"
    assert git(repo.work, "status", "--porcelain", "--untracked-files=no") == "", "and says nothing of it"
    stored = repo.run("verify", "MEMORY.md")
    assert (stored.code, stored.err) == (0, "")
    local = repo.run("verify", "MEMORY.md", "MEMORY.md")
    assert local.code == 5
    assert "line endings only" in local.out
    assert "❌" not in local.out + local.err
    assert "Only line endings differ" in repo.run("diff", "MEMORY.md", "MEMORY.md").err
    (repo.work / "MEMORY.md").write_bytes(FIRST.replace(b"\n", b"\r\n") + b"edited\r\n")
    edited = repo.run("verify", "MEMORY.md", "MEMORY.md")
    assert edited.code == 2
    assert "is not what was sealed" in edited.out


def test_composed_and_decomposed_text_are_two_texts(kept: Kept) -> None:
    """O-INT-04."""
    nfc, nfd = ((CASES / f"int_{form}.md").read_bytes() for form in ("nfc", "nfd"))
    assert kept.save("A", nfc) != kept.save("B", nfd)
    assert kept.run("verify", "A").code == kept.run("verify", "B").code == 0
    kept.sql("UPDATE record SET content = ? WHERE content = ?", nfd, nfc)
    refused(kept.run("verify", "A"), 2)
    refused(kept.run("load", "A"), 2)
    assert kept.load("B") == nfd


def test_nothing_is_a_memory_too(kept: Kept) -> None:
    """O-INT-05: (a) saved and verified, never taken for absent; (b) over 2 KB only when that is said."""
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    empty: Path = CASES / "int_empty.md"
    assert said(kept.run("save", "empty", empty, "--json"))["sha256"] == digest
    assert f"sha256:{digest}" in kept.run("verify", "empty").out
    assert kept.run("load", "empty").stdout == b""
    assert said(kept.run("load", "empty", "--json"))["content"] == ""
    full = FIRST * 50
    kept.save("full", full)
    refused(kept.run("save", "full", empty), 6, str(len(full)), "--allow-empty")
    refused(kept.run("save", "full", "--force", input=b""), 6)
    assert kept.load("full") == full
    kept.save("empty", b"no longer\n")
