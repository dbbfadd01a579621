"""pin, key and restore-store: what a reader believes, and whom."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, refused, said

if TYPE_CHECKING:
    from tests.conftest import Run

WORDS = "correct horse battery staple"


# pins


def test_the_pin_is_shown_as_a_note_that_can_be_given(kept: Kept) -> None:
    shown = kept.run("pin", "show")
    assert shown.code == 0
    assert shown.out == kept.run("checkpoint").out
    document = said(kept.run("pin", "show", "--json"))
    assert (document["size"], document["note"]) == (1, shown.out)


def test_without_a_pin_there_is_none_to_show(kept: Kept) -> None:
    kept.be_new()
    refused(kept.run("pin", "show"), 3, "Verify or save something first")


def test_a_lost_pin_is_no_first_use(kept: Kept) -> None:
    kept.lose_pin()
    for words in (
        ("verify", "MEMORY.md"),
        ("load", "MEMORY.md"),
        ("list",),
        ("save", "MEMORY.md", "-"),
        ("history", "MEMORY.md"),
        ("pin", "show"),
    ):
        ran = kept.run(*words, input=b"x")
        refused(ran, 1, "lost", "indelible pin set FILE", "indelible pin set --accept")
        assert ran.stdout == b""


def test_a_damaged_pin_is_no_first_use(kept: Kept) -> None:
    (database,) = (kept.home / "state" / "indelible" / "followers").glob("*.db")
    for side in ("-wal", "-shm"):
        Path(f"{database}{side}").unlink(missing_ok=True)
    database.write_bytes(os.urandom(8192))
    refused(kept.run("verify", "MEMORY.md"), 1, "lost", "indelible pin set")


@pytest.mark.parametrize("how", ["file", "pipe", "accept"])
def test_a_lost_pin_is_made_up_for(kept: Kept, how: str) -> None:
    assert kept.run("checkpoint", "-o", "pin").code == 0
    kept.save("MEMORY.md", b"second\n")
    kept.lose_pin()
    words = {"file": ("pin",), "pipe": ("-",), "accept": ("--accept",)}[how]
    ran = kept.run("pin", "set", *words, input=(kept.work / "pin").read_bytes())
    assert ran.code == 0, ran.err
    assert "pinned at 2 entries" in ran.out
    assert ("is not known" in ran.out) is (how == "accept"), "what accepting costs is said"
    assert kept.run("verify", "MEMORY.md").err == ""
    kept.save("MEMORY.md", b"third\n")


def test_a_pin_that_the_store_does_not_continue_is_refused(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("checkpoint", "-o", "pin").code == 0
    kept.put_back(old)
    kept.be_new()
    refused(kept.run("pin", "set", "pin"), 2, "2")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff", b"indelible/local/default\n007\n\n"])
def test_a_file_that_is_no_checkpoint_is_no_pin(kept: Kept, content: bytes) -> None:
    kept.file("pin", content)
    refused(kept.run("pin", "set", "pin"), 64, "indelible checkpoint")


def test_a_pin_of_another_agent_is_refused(kept: Kept) -> None:
    assert kept.run("save", "k", "--agent", "bob", input=b"x").code == 0
    assert kept.run("checkpoint", "--agent", "bob", "-o", "pin").code == 0
    refused(kept.run("pin", "set", "pin"), 64, "bob", "--agent")


def test_pin_set_needs_to_be_told_what(kept: Kept) -> None:
    kept.file("pin", b"x")
    refused(kept.run("pin", "set"), 64, "--accept")
    refused(kept.run("pin", "set", "pin", "--accept"), 64)
    refused(kept.run("pin", "set", "nowhere"), 64, "nowhere")


def test_a_writer_that_has_only_seen_a_log_does_not_sign_it(kept: Kept) -> None:
    kept.be_new()
    assert kept.run("verify", "MEMORY.md").code == 0
    refused(kept.run("save", "MEMORY.md", input=b"x"), 1, "indelible pin set")
    assert kept.run("pin", "set", "--accept").code == 0
    kept.save("MEMORY.md", b"x")


# INDELIBLE_PIN and INDELIBLE_REQUIRE_PIN


def test_a_pin_from_the_environment_makes_a_first_look_a_checked_one(kept: Kept) -> None:
    note = kept.run("checkpoint").out
    kept.file("pin", note.encode())
    kept.save("MEMORY.md", b"second\n")
    for pin in ("pin", str(kept.work / "pin"), note):
        kept.be_new()
        ran = kept.run("verify", "MEMORY.md", env={"INDELIBLE_PIN": pin})
        assert (ran.code, ran.err) == (0, ""), pin


@pytest.mark.parametrize(
    "words", [("verify", "MEMORY.md"), ("verify", "--", "MEMORY.md"), ("load", "MEMORY.md"), ("list",)]
)
def test_a_pin_from_the_environment_finds_a_rollback(kept: Kept, words: tuple[str, ...]) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("checkpoint", "-o", "pin").code == 0
    kept.put_back(old)
    kept.be_new()
    pin = {"INDELIBLE_PIN": "pin"}
    refused(kept.run(*words, env=pin), 2, "2")
    assert kept.run(*words).code == 0, "without it a first look cannot know"
    refused(kept.run(*words, env=pin), 2, "2")


@pytest.mark.parametrize(
    "words", [("verify", "MEMORY.md"), ("verify", "--", "MEMORY.md"), ("load", "MEMORY.md"), ("list",)]
)
def test_a_pin_from_the_environment_that_cannot_be_read_is_not_passed_over(kept: Kept, words: tuple[str, ...]) -> None:
    kept.file("garbage", b"garbage")
    for pin in ("nowhere", "garbage", "."):
        refused(kept.run(*words, env={"INDELIBLE_PIN": pin}), 64)
    kept.be_new()
    refused(kept.run(*words, env={"INDELIBLE_PIN": "nowhere"}), 64)


def test_a_reader_can_be_told_to_require_a_pin(kept: Kept) -> None:
    note = kept.run("checkpoint").out
    required = {"INDELIBLE_REQUIRE_PIN": "1"}
    assert kept.run("verify", "MEMORY.md", env=required).code == 0, "it has one"
    kept.be_new()
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("list",)):
        refused(kept.run(*words, env=required), 1, "INDELIBLE_PIN", "indelible pin set FILE")
    ran = kept.run("load", "MEMORY.md", env=required | {"INDELIBLE_PIN": note})
    assert ran.stdout == FIRST
    refused(kept.run("verify", "MEMORY.md", env={"INDELIBLE_REQUIRE_PIN": "perhaps"}), 64, "INDELIBLE_REQUIRE_PIN")


def test_a_pin_that_is_committed_holds_for_every_clone(repo: Kept) -> None:
    """A fresh container: neither state nor data of its own, and the pin comes with the repository."""
    old = repo.copy()
    repo.save("MEMORY.md", b"second\n")
    assert repo.run("checkpoint", "-o", "memory.pin").code == 0
    (repo.work / ".indelible" / "config.toml").write_text('agent = "default"\npin = "memory.pin"\n', encoding="utf-8")
    repo.be_new()
    ran = repo.run("verify", "MEMORY.md")
    assert ran.code == 0, ran.err
    repo.put_back(old)
    repo.be_new()
    refused(repo.run("verify", "MEMORY.md"), 2)
    refused(repo.run("load", "MEMORY.md"), 2)


# keys


def test_a_key_is_made_and_shown_without_its_secret(home: Path, run: Run) -> None:
    refused(run("key", "show"), 3, "indelible key create")
    made = run("key", "create")
    assert made.code == 0
    assert run("key", "show").out == made.out
    (secret,) = (home / "config" / "indelible" / "keys").glob("*.key")
    for line in secret.read_text(encoding="utf-8").splitlines():
        assert line not in made.out
    assert run("key", "create").code != 0, "a key is never made over another"
    assert run("key", "show").out == made.out
    named = run("key", "create", "bob")
    assert named.out.startswith("indelible/local/bob+")


def test_a_persons_key_is_kept_under_a_passphrase(kept: Kept) -> None:
    refused(kept.run("key", "create", "--role", "reviewer"), 1, "INDELIBLE_PASSPHRASE_FILE")
    made = kept.run("key", "create", "ann", "--role", "reviewer", env=kept.passphrase())
    assert made.code == 0, made.err
    assert made.out.startswith("indelible-reviewer/ann+")
    (path,) = (kept.home / "config" / "indelible" / "keys").glob("*reviewer*.key")
    assert "PRIVATE+KEY" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\n"])
def test_a_passphrase_that_is_none_is_refused(kept: Kept, content: bytes) -> None:
    env = kept.passphrase()
    Path(env["INDELIBLE_PASSPHRASE_FILE"]).write_bytes(content)
    ran = kept.run("key", "create", "--role", "owner", env=env)
    assert ran.code in (1, 64), ran
    assert "Traceback" not in ran.err
    refused(kept.run("key", "show", "--role", "owner"), 3)


def test_a_passphrase_file_that_is_not_there_is_named(kept: Kept) -> None:
    ran = kept.run("key", "create", "--role", "owner", env={"INDELIBLE_PASSPHRASE_FILE": "/nowhere/pass"})
    assert ran.code in (1, 64)
    assert "/nowhere/pass" in ran.err


def test_rotation_hands_the_log_to_a_new_key_and_readers_follow(kept: Kept) -> None:
    before = kept.run("key", "show").out
    other = {"XDG_STATE_HOME": str(kept.home / "reader"), "XDG_CONFIG_HOME": str(kept.home / "other")}
    assert kept.run("key", "trust", before.strip(), env=other).code == 0
    assert kept.run("verify", "MEMORY.md", env=other).code == 0
    ran = kept.run("key", "rotate", "--reason", "yearly")
    assert ran.code == 0
    assert kept.run("key", "show").out == ran.out != before
    kept.save("MEMORY.md", b"by the new key\n")
    assert kept.run("load", "MEMORY.md", env=other).stdout == b"by the new key\n"
    assert {entry["by"] for entry in said(kept.run("history", "MEMORY.md", "--json"))["entries"]} == {
        before.split("+")[1], ran.out.split("+")[1],
    }  # fmt: skip
    assert kept.run("audit").code == 0


def test_what_a_revoked_key_signed_is_refused_from_that_entry_on(kept: Kept) -> None:
    kept.save("MEMORY.md", b"by the thief\n")
    ran = kept.run("key", "revoke", "--from-seq", "1", "--reason", "stolen", env=kept.passphrase())
    assert ran.code == 0, ran.err
    assert "--version" in ran.err, "what to do about it is said"
    refused(kept.run("load", "MEMORY.md"), 2, "no longer trusted")
    refused(kept.run("load", "MEMORY.md", "--version", "2"), 2)
    assert kept.run("load", "MEMORY.md", "--version", "1").stdout == FIRST
    assert kept.run("list").code == 2
    history = said(kept.run("history", "MEMORY.md", "--json"))["entries"]
    assert [entry["revoked"] for entry in history] == [True, False]
    assert "revoked key" in kept.run("history", "MEMORY.md").out
    assert kept.run("restore", "MEMORY.md", "--version", "1").code == 0
    assert kept.load("MEMORY.md") == FIRST
    assert kept.run("audit").code == 0


def test_revoking_needs_the_owner_and_an_entry(kept: Kept) -> None:
    before = kept.run("key", "show").out
    refused(kept.run("key", "revoke"), 64, "--from-seq")
    refused(kept.run("key", "revoke", "--from-seq", "0"), 1, "INDELIBLE_PASSPHRASE_FILE")
    env = kept.passphrase()
    assert kept.run("key", "create", "--role", "owner", env=env).code == 0
    wrong = kept.passphrase("not the right one at all")
    refused(kept.run("key", "revoke", "--from-seq", "0", env=wrong), 1, "passphrase")
    assert kept.run("key", "show").out == before
    assert kept.run("verify", "MEMORY.md").code == 0


def test_a_backup_brings_every_key_back(kept: Kept) -> None:
    env = kept.passphrase()
    assert kept.run("key", "create", "--role", "owner", env=env).code == 0
    assert kept.run("key", "backup", "-o", "backup.txt", env=env).code == 0
    text = (kept.work / "backup.txt").read_text(encoding="ascii")
    assert text.splitlines()[0] == "-----BEGIN INDELIBLE KEY BACKUP-----"
    assert max(map(len, text.splitlines())) <= 80, "it can be printed"
    keys = kept.home / "config" / "indelible" / "keys"
    agent = kept.run("key", "show").out
    shutil.rmtree(keys)
    refused(kept.run("save", "MEMORY.md", input=b"x"), 3, "indelible key recover")
    ran = kept.run("key", "recover", "backup.txt", env=env)
    assert ran.code == 0, ran.err
    assert "indelible/local/default" in ran.out
    assert kept.run("key", "show").out == agent
    kept.save("MEMORY.md", b"after the recovery\n")
    assert kept.run("key", "recover", "backup.txt", env=env).code == 0, "once more does no harm"


@pytest.mark.parametrize("fault", ["passphrase", "line", "cut", "letter", "not-one"])
def test_a_backup_that_does_not_open_changes_nothing(kept: Kept, fault: str) -> None:
    env = kept.passphrase()
    text = kept.run("key", "backup", env=env).out
    lines = text.splitlines()
    shutil.rmtree(kept.home / "config" / "indelible" / "keys")
    changed = {
        "passphrase": text,
        "line": "\n".join(lines[:3] + lines[4:]),
        "cut": text[: len(text) // 2],
        "letter": text.replace(lines[2][6:10], "AAAA", 1),
        "not-one": "hello\n",
    }[fault]
    (kept.work / "backup.txt").write_text(changed, encoding="ascii")
    if fault == "passphrase":
        env = kept.passphrase("another one altogether")
    ran = kept.run("key", "recover", "backup.txt", env=env)
    assert ran.code in (1, 2, 64), ran
    assert "Traceback" not in ran.err
    refused(kept.run("key", "show"), 3)


def test_trust_in_another_key_of_the_same_name_needs_to_be_said(kept: Kept) -> None:
    stranger = {"XDG_CONFIG_HOME": str(kept.home / "stranger")}
    assert kept.run("key", "create", env=stranger).code == 0
    theirs = kept.run("key", "show", env=stranger).out.strip()
    reader = {"XDG_CONFIG_HOME": str(kept.home / "reader")}
    assert kept.run("key", "trust", kept.run("key", "show").out.strip(), env=reader).code == 0
    ran = kept.run("key", "trust", theirs, env=reader)
    assert ran.code != 0
    assert "--replace" in ran.err
    assert kept.run("key", "trust", theirs, "--replace", env=reader).code == 0
    refused(kept.run("key", "trust", "nonsense"), 64)


def test_a_store_signed_by_a_key_that_is_not_trusted_is_refused(kept: Kept) -> None:
    """The whole store replaced by another one with a new beginning, before this reader had a pin."""
    stranger = {
        "XDG_CONFIG_HOME": str(kept.home / "stranger"),
        "XDG_STATE_HOME": str(kept.home / "s"),
        "XDG_DATA_HOME": str(kept.home / "d"),
    }
    assert kept.run("init", env=stranger).code == 0
    assert kept.run("save", "MEMORY.md", input=b"forged", env=stranger).code == 0
    forged = kept.home / "d" / "indelible" / "store.db"
    kept.remove()
    for side in ("", "-wal", "-shm"):
        shutil.copy2(f"{forged}{side}", f"{kept.store}{side}")
    ran = kept.run("load", "MEMORY.md")
    refused(ran, 2)
    assert ran.stdout == b""
    kept.be_new()
    refused(kept.run("load", "MEMORY.md"), 2)


# The key file.


def secret_of(kept: Kept) -> Path:
    (path,) = (kept.home / "config" / "indelible" / "keys").glob("*default.key")
    return path


def test_a_key_file_can_be_mounted_elsewhere(kept: Kept) -> None:
    path = kept.file("agent.key", secret_of(kept).read_bytes())
    path.chmod(0o600)
    shutil.rmtree(kept.home / "config" / "indelible" / "keys")
    env = {"INDELIBLE_KEY_FILE": str(path)}
    assert kept.run("save", "MEMORY.md", input=b"x", env=env).code == 0
    assert kept.run("load", "MEMORY.md", env=env).stdout == b"x"


@pytest.mark.parametrize(
    ("form", "word"),
    [("newline", ""), ("crlf", "line ends of Windows"), ("bom", "byte-order mark"), ("cut", "private key")],
)
def test_a_key_file_that_an_editor_touched_is_taken_or_its_fault_named(kept: Kept, form: str, word: str) -> None:
    path = secret_of(kept)
    text = path.read_text(encoding="utf-8").rstrip("\n")
    changed = {"newline": text, "crlf": f"{text}\r\n", "bom": f"\ufeff{text}\n", "cut": text[: len(text) // 2]}[form]
    path.write_bytes(changed.encode())
    ran = kept.run("save", "MEMORY.md", input=b"x")
    if not word:
        assert ran.code == 0, ran.err
        return
    refused(ran, 64, str(path), word)
    assert kept.load("MEMORY.md") == FIRST, "reading needs no secret"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o660, 0o604])
def test_a_key_file_that_others_can_read_is_not_used(kept: Kept, mode: int) -> None:
    path = secret_of(kept)
    path.chmod(mode)
    refused(kept.run("save", "MEMORY.md", input=b"x"), 64, str(path), "chmod 600")
    assert kept.load("MEMORY.md") == FIRST, "reading needs no secret"


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"\xff\xfe", b"PRIVATE+KEY+a+00000000+AAAA\n"])
def test_a_key_file_that_is_none_is_named(kept: Kept, content: bytes) -> None:
    path = kept.file("agent.key", content)
    path.chmod(0o600)
    ran = kept.run("save", "MEMORY.md", input=b"x", env={"INDELIBLE_KEY_FILE": str(path)})
    assert ran.code in (1, 64), ran
    assert "agent.key" in ran.err
    assert "Traceback" not in ran.err
    missing = kept.run("save", "MEMORY.md", input=b"x", env={"INDELIBLE_KEY_FILE": "/nowhere/agent.key"})
    assert missing.code in (1, 3, 64)
    assert "/nowhere/agent.key" in missing.err


# restore-store


def test_a_lawful_restore_is_an_entry_that_the_owner_signed(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.save("other", b"x")
    kept.put_back(old)
    refused(kept.run("load", "MEMORY.md"), 2)
    refused(kept.run("restore-store"), 64, "--reason")
    refused(kept.run("restore-store", "--reason", "the disk died"), 1, "INDELIBLE_PASSPHRASE_FILE")
    refused(kept.run("load", "MEMORY.md"), 2)
    ran = kept.run("restore-store", "--reason", "the disk died", env=kept.passphrase())
    assert ran.code == 0, ran.err
    assert "entry 1" in ran.out
    assert kept.load("MEMORY.md") == FIRST
    assert kept.run("audit").code == 0
    kept.save("MEMORY.md", b"on it goes\n")


def test_another_reader_accepts_the_restore_when_it_trusts_the_owner(kept: Kept) -> None:
    env = kept.passphrase()
    assert kept.run("key", "create", "--role", "owner", env=env).code == 0
    other = {"XDG_STATE_HOME": str(kept.home / "reader"), "XDG_CONFIG_HOME": str(kept.home / "other")}
    for role in ("agent", "owner"):
        assert kept.run("key", "trust", kept.run("key", "show", "--role", role).out.strip(), env=other).code == 0
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("load", "MEMORY.md", env=other).stdout == b"second\n"
    kept.put_back(old)
    refused(kept.run("load", "MEMORY.md", env=other), 2)
    assert kept.run("restore-store", "--reason", "lost", env=env).code == 0
    assert kept.run("load", "MEMORY.md", env=other).stdout == FIRST


def test_there_is_nothing_to_restore_in_a_store_that_is_whole(kept: Kept) -> None:
    refused(kept.run("restore-store", "--reason", "why not", env=kept.passphrase()), 64, "nothing to restore")


def test_no_temporary_pin_stays(kept: Kept) -> None:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("checkpoint", "-o", "pin").code == 0
    assert kept.run("pin", "set", "pin").code == 0
    kept.put_back(old)
    assert kept.run("restore-store", "--reason", "lost", env=kept.passphrase()).code == 0
    names = [path.name for path in (kept.home / "state" / "indelible" / "followers").iterdir()]
    assert not [name for name in names if ".new" in name or "beside" in name or "tmp" in name], names


# Agents.


def test_each_agent_has_a_log_a_key_and_a_pin_of_its_own(kept: Kept) -> None:
    assert kept.run("save", "MEMORY.md", "--agent", "bob", input=b"bob's").code == 0
    assert kept.run("load", "MEMORY.md", env={"INDELIBLE_AGENT": "bob"}).stdout == b"bob's"
    assert kept.load("MEMORY.md") == FIRST
    assert kept.run("key", "show", "--agent", "bob").out.startswith("indelible/local/bob+")


@pytest.mark.parametrize("agent", ["에로스", "claude-code@laptop", "a/../../b", "x y", "a+b", "100%"])
def test_an_agent_may_have_any_name(kept: Kept, agent: str) -> None:
    assert kept.run("save", "k", "--agent", agent, input=b"x").code == 0
    assert kept.run("load", "k", "--agent", agent).stdout == b"x"
    outside = {str(path.relative_to(kept.home)).split("/")[0] for path in kept.home.rglob("*")}
    assert outside <= {"work", "config", "state", "data", "cache", ".gitconfig"}


def test_doctor_says_that_the_key_here_is_not_the_one_in_force(kept: Kept) -> None:
    keys = next(path for path in kept.home.rglob("keys") if path.is_dir())
    shutil.copytree(keys, kept.home / "before")
    assert kept.run("key", "rotate", "--reason", "a year").code == 0
    assert kept.run("doctor").code == 0
    shutil.rmtree(keys)
    shutil.copytree(kept.home / "before", keys)
    ran = kept.run("doctor")
    assert ran.code == 1, ran
    assert "the one here is not" in ran.out
    assert kept.run("save", "MEMORY.md", input=b"x").code == 2


def test_a_role_key_that_is_there_is_shown_and_not_rotated(kept: Kept) -> None:
    env = kept.passphrase()
    assert kept.run("key", "create", "an na", "--role", "reviewer", env=env).code == 0
    taken = kept.run("key", "create", "an na", "--role", "reviewer", env=env)
    err = refused(taken, 5, "indelible key show 'an na' --role reviewer", "another NAME")
    assert "rotate" not in err
    assert kept.run("key", "show", "an na", "--role", "reviewer").code == 0
    refused(kept.run("key", "create"), 5, "rotate")


def test_init_on_a_new_machine_made_a_second_key_and_what_was_sealed_became_a_forgery(home: Path, run: Run) -> None:
    there = {f"XDG_{kind}_HOME": str(home / "there" / kind) for kind in ("CONFIG", "STATE", "DATA")}
    store = {"INDELIBLE_STORE": str(home / "shared" / "store.db")}
    assert run("init", env=store).code == 0
    assert run("save", "MEMORY.md", "-", input=b"one\n", env=store).code == 0
    begun = run("init", env={**store, **there})
    assert begun.code == 3
    assert "key recover" in begun.err
    assert "INDELIBLE_KEY_FILE" in begun.err
    assert run("save", "other", "-", input=b"two\n", env={**store, **there}).code == 1
    assert not list((home / "there").rglob("*.key"))
    assert run("load", "MEMORY.md", env={**store, **there}).code == 1, "not checked, and still not altered"
    key = next((home / "config" / "indelible" / "keys").glob("*.key"))
    assert run("load", "MEMORY.md", env={**store, **there, "INDELIBLE_KEY_FILE": str(key)}).code == 0
