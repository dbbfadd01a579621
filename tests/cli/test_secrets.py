"""O-SEC-01 and O-SEC-06 at the command line: refused or masked in all four places, and no file of the home holds any of it."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import CASES, Kept, ended, git, refused, said, script, sha256, start, within
from tests.support import traces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Ran, Run
    from tests.plain.conftest import PlainServer

SECRET = "AKIA" + "DEMO" * 4
TEXT = f"# Notes\n\nThe key is {SECRET}.\n".encode()
MASKED = b"# Notes\n\nThe key is [masked: aws-access-key].\n"
MASK = {"INDELIBLE_SECRETS": "mask"}
FIXTURE = (CASES / "sec_secrets.txt").read_bytes()
LINES = [*FIXTURE[: FIXTURE.index(b"-----BEGIN")].splitlines(), FIXTURE[FIXTURE.index(b"-----BEGIN") :]]
VALUES = [
    b"sk-demoA1b2", b"ghp_Zz09Zz09", b"AKIADEMODEMO", b"xoxb-000000000000", b"eyJhbGciOiJub25lIn0.eyJk", b"demo50aa.Zp5h", b"hunter2demo",
    b"correct-horse-demo-1", b"demo-pass-9876", b"MIIdemoDEMO",
]  # fmt: skip
"""What of each of the lines is the secret."""


def clean(home: Path, *secrets: bytes) -> None:
    """That no file of the home holds any of them, or the digest of the text that had one."""
    assert traces(home, *(secrets or (SECRET.encode(), TEXT))) == []


def told(ran: Ran) -> None:
    """That the caller is told that the text differs, with the digest of what is stored, and not what the secret was."""
    assert ran.code == 0, ran.err
    assert SECRET not in ran.out + ran.err
    assert sha256(TEXT) not in ran.out + ran.err
    assert "aws-access-key (content line 3)" in ran.err
    assert f"sha256:{sha256(MASKED)} is of the masked text" in ran.err


@pytest.mark.parametrize(("line", "value"), list(zip(LINES, VALUES, strict=True)), ids=range(len(LINES)))
def test_each_line_of_the_field_case_is_refused_or_masked(kept: Kept, line: bytes, value: bytes) -> None:
    ran = kept.run("save", "k", input=line)
    assert value.decode() not in refused(ran, 6, "content line 1", "INDELIBLE_SECRETS=mask")
    assert said(kept.run("save", "k", "--json", input=line))["slug"] == "secret-refused"
    assert kept.run("load", "k").code == 3
    saved = said(kept.run("save", "k", "--json", input=line, env=MASK))
    assert len(saved["masked"]) == 1
    stored = kept.load("k")
    assert (b"[masked: " in stored, value in stored) == (True, False)
    assert saved["sha256"] == sha256(stored)
    assert kept.run("verify", "k").code == 0
    clean(kept.home, value, line)


@pytest.mark.parametrize("mode", ["refuse", "mask"])
@pytest.mark.parametrize("line", [line.decode() for line in LINES[:-1]], ids=range(len(LINES) - 1))
def test_a_secret_in_a_name_is_refused(kept: Kept, line: str, mode: str) -> None:
    env = {"INDELIBLE_SECRETS": mode}
    assert within("save", "k", "--", str(kept.file("text", b"text"))) == 0
    for words in (
        ("save", "--", line),
        ("save", "k", "--tag", line),
        ("save", "k", "--title", line),
        ("archive", "k", "--reason", line),
    ):
        ran = kept.run(*words, input=b"text", env=env)
        assert line not in refused(ran, 6, "secret")
    assert kept.run("history", "k", "--json").json["entries"][0]["version"] == 1
    clean(kept.home, line.encode())


@pytest.mark.parametrize("line", (CASES / "sec_innocent.txt").read_text(encoding="utf-8").splitlines())
def test_talk_about_secrets_is_saved_as_it_is(kept: Kept, line: str) -> None:
    path = kept.file("text", line.encode())
    assert within("save", "--tag", line, "--title", line, "--reason", line, "--", line, str(path)) == 0
    assert kept.load(line) == line.encode()


def test_a_masked_save_tells_both_facts_and_verifies(kept: Kept) -> None:
    told(kept.run("save", "k", input=TEXT, env=MASK))
    document = said(kept.run("save", "k2", "--json", input=TEXT, env=MASK))
    assert (document["masked"], document["sha256"]) == (["aws-access-key (content line 3)"], sha256(MASKED))
    assert kept.load("k") == MASKED
    for words in (("verify", "k"), ("audit",), ("list",), ("incident",), ("history", "k")):
        assert kept.run(*words).code == 0
    clean(kept.home)


def test_the_embedded_checksum_is_of_the_masked_text(kept: Kept) -> None:
    ran = kept.run("save", "k", "--embed", input=TEXT, env=MASK)
    assert ran.code == 0, ran.err
    stored = json.loads(kept.load("k"))
    assert (stored["text"].encode(), stored["checksum"]) == (MASKED, f"sha256:{sha256(MASKED)}")
    assert kept.run("verify", "k").code == 0
    clean(kept.home)


def test_a_masked_file_is_no_file_in_git_any_more(repo: Kept) -> None:
    repo.file("KEYS.md", TEXT)
    git(repo.work, "add", ".")
    git(repo.work, "commit", "-qm", "keys")
    told(repo.run("save", "KEYS.md", "KEYS.md", env=MASK))
    refused(repo.run("restore", "KEYS.md", "--from-git", env=MASK), 64, "No source")
    named = (
        "restore",
        "KEYS.md",
        "--from-git",
        "--source",
        "team/notes/KEYS.md",
        "--branch",
        "main",
        "--sha256",
        sha256(TEXT),
    )
    refused(repo.run(*named), 6, "aws-access-key")
    told(repo.run(*named, env=MASK))
    assert repo.load("KEYS.md") == MASKED
    assert repo.run("verify", "KEYS.md").code == 0
    for place in (repo.home / "state", repo.store.parent, repo.home / "config"):
        clean(place)


def test_a_secret_that_is_typed_into_the_editor_is_looked_for_too(kept: Kept, tmp_path: Path) -> None:
    editor = script(tmp_path / "editor", f'printf "the key {SECRET}\\n" > "$1"')
    ran = kept.run("edit", "MEMORY.md", "--editor", editor)
    assert SECRET not in refused(ran, 6, "aws-access-key", "Your text is kept in")
    ran = kept.run("edit", "MEMORY.md", "--editor", editor, env=MASK)
    assert ran.code == 0, ran.err
    assert kept.load("MEMORY.md") == b"the key [masked: aws-access-key]\n"
    clean(kept.home)


def test_adopt_keeps_one_file_with_a_secret_out_and_takes_the_others(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_bytes(b"fine\n")
    (folder / "keys.md").write_bytes(TEXT)
    (folder / f"{SECRET}.md").write_bytes(b"fine\n")
    ran = kept.run("adopt", folder)
    assert ran.code == 6
    assert SECRET not in ran.out + ran.err
    assert "aws-access-key (content line 3)" in ran.err
    assert kept.load("MEMORY.md") == b"fine\n"
    (folder / f"{SECRET}.md").unlink()
    again = kept.run("adopt", folder, env=MASK)
    told(again)
    assert kept.load("memory/keys.md") == MASKED
    assert "already sealed  memory/keys.md" in kept.run("adopt", folder, env=MASK).out
    assert kept.run("verify", "memory/keys.md").code == 0
    clean(kept.home)


def test_a_plain_server_gets_only_what_was_masked(server: PlainServer, kept: Kept) -> None:
    env = {
        "MEMORY_API_BASE": server.url,
        "MEMORY_API_KEY_EROS": "4mL_Qtest",
        "INDELIBLE_AGENT": "eros",
        "no_proxy": "*",
    }
    refused(kept.run("save", "k", input=TEXT, env=env), 6, "aws-access-key")
    refused(kept.run("save", f"k {SECRET}", input=b"text", env=env | MASK), 6, "(key)")
    told(kept.run("save", "k", input=TEXT, env=env | MASK))
    assert kept.run("save", "e", "--embed", input=TEXT, env=env | MASK).code == 0
    for key in ("k", "e"):
        assert kept.run("verify", key, env=env).code == 0
    assert server.get("eros", "k") == MASKED.decode()
    assert server.get("eros", "k.sha256") == sha256(MASKED)
    sent = json.dumps([body for *_, body in server.requests])
    assert (SECRET in sent, sha256(TEXT) in sent) == (False, False)
    clean(kept.home)


@contextmanager
def serving(kept: Kept, mode: str) -> Iterator[dict[str, str | None]]:
    """The store behind a server of its own, and the environment of a client on another machine."""
    key = json.loads(kept.run("apikey", "create", "eros", "--json").stdout)["key"]
    process = start("serve", "--port", "0", cwd=kept.work, env={"INDELIBLE_SECRETS": mode})
    assert process.stderr is not None
    line = b""
    ends = time.monotonic() + 30
    while b"Serving on" not in line and time.monotonic() < ends:
        line = process.stderr.readline()
    address = line.split(b"Serving on ", 1)[1].split()[0].decode()
    away = kept.home / "away"
    folders: dict[str, str | None] = {f"XDG_{kind}_HOME": str(away / kind) for kind in ("CONFIG", "STATE", "DATA")}
    try:
        yield {
            **folders,
            "HOME": str(away),
            "INDELIBLE_STORE": address,
            "INDELIBLE_API_KEY": key,
            "INDELIBLE_AGENT": "eros",
        }
    finally:
        process.terminate()
        log = ended(process).err
        assert SECRET not in log


def test_a_client_masks_before_it_signs_and_the_server_looks_again(kept: Kept) -> None:
    with serving(kept, "mask") as env:
        refused(kept.run("save", "k", input=TEXT, env=env), 6, "aws-access-key")
        careless = env | {"INDELIBLE_SECRETS": "allow"}
        assert SECRET not in refused(kept.run("save", "k", input=TEXT, env=careless), 6, "aws-access-key")
        refused(kept.run("save", "k", "--title", SECRET, input=b"x", env=careless), 6, "title")
        told(kept.run("save", "k", input=TEXT, env=env | MASK))
        assert kept.run("verify", "k", env=env).code == 0
        assert kept.run("load", "k", env=env).stdout == MASKED
    clean(kept.home)


# Origin.


def test_a_better_origin_than_before_is_refused_with_what_to_do(kept: Kept) -> None:
    path = str(kept.file("text", b"text"))
    assert within("save", "k", path, "--origin", "external") == 0
    refused(kept.run("save", "k", path, "--origin", "user"), 6, "'external'", "'user'", "Leave --origin out")
    assert said(kept.run("save", "k", path, "--origin", "agent", "--json"))["slug"] == "origin-raised"
    assert within("save", "k", path) == 0
    assert within("adopt", path) == 0
    assert within("save", "k", path, "--origin", "external") == 0
    assert within("erase", "k", "--yes") == 0
    assert within("save", "k", path, "--origin", "user") == 0


def test_a_word_that_is_no_way_to_treat_secrets_is_a_matter_of_usage(run: Run) -> None:
    refused(run("list", env={"INDELIBLE_SECRETS": "msak"}), 64, "INDELIBLE_SECRETS", "refuse, mask, allow")
    assert os.environ.get("INDELIBLE_SECRETS") is None
