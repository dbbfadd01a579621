"""O-SEC-03, O-SEC-04, O-SEC-05 and O-XFER-04: what was deleted and is still found, links in a repository, text AND checksum edited, stores of other formats."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, SIDES, Kept, git, refused, said, sha256, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Run
    from tests.plain.conftest import PlainServer

# O-SEC-03


def test_what_was_erased_comes_back_by_no_way_and_is_in_no_file(kept: Kept) -> None:
    secret = b"the old text: rhododendron in the north corner of the garden\n"
    kept.save("note", secret)
    kept.save("note.sha256", sha256(secret).encode())
    assert kept.run("verify", "note").code == 0
    assert kept.load("note") == secret
    ran = kept.run("erase", "note", "--yes", "--verify", "--reason", "asked for")
    assert ran.code == 0, ran
    assert ", and note.sha256, its checksum" in ran.out
    for words in (
        ("load", "note"),
        ("load", "note", "--version", "1"),
        ("load", "note.sha256"),
        ("verify", "note"),
        ("proof", "note"),
    ):
        refused(kept.run(*words), 3)
    assert kept.run("history", "note").code == 0
    assert "note" not in kept.run("list", "--all").out
    kept.save("note", b"another text under the same key\n")
    files = [content for parent in ("data", "state", "config") for content in tree(kept.home / parent).values()]
    for trace in (secret[:24], secret[20:44], secret[-25:], sha256(secret).encode(), bytes.fromhex(sha256(secret))):
        assert not any(trace in content for content in files)
    assert kept.run("audit").code == 0


def test_a_memory_that_is_no_checksum_stays_whatever_its_name(kept: Kept) -> None:
    kept.save("note", b"x")
    kept.save("note.sha256", b"how sha256 works")
    assert kept.run("erase", "note", "--yes").code == 0
    assert kept.load("note.sha256") == b"how sha256 works"


# O-SEC-04


def plant(work: Path, home: Path, what: str) -> Path:
    """What a repository brings along: a link in the place of something of ours. Gives where it leads."""
    outside = home / "outside"
    outside.mkdir()
    (outside / "profile").write_bytes(b"# mine\n")
    ours = work / ".indelible"
    if what in ("folder", "dangling"):
        ours.symlink_to(outside if what == "folder" else home / "nowhere")
        return outside
    if what == "parent":
        (work / "real").symlink_to(outside)
        return outside
    ours.mkdir()
    target = outside / "profile" if what.startswith("existing") else outside / "new"
    (ours / what.split("-", 1)[1]).symlink_to(target)
    return outside


@pytest.mark.parametrize(
    "what",
    [
        "folder",
        "dangling",
        "existing-store.db",
        "new-store.db",
        "existing-config.toml",
        "new-config.toml",
        "existing-store.db-wal",
        "new-store.db-shm",
    ],
)
def test_a_link_in_a_repository_is_not_written_through(home: Path, run: Run, what: str) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / "MEMORY.md").write_bytes(FIRST)
    outside = plant(work, home, what)
    before = tree(outside)
    for words in (
        ("init",),
        ("save", "k", "MEMORY.md"),
        ("adopt",),
        ("verify", "k"),
        ("load", "k"),
        ("list",),
        ("audit",),
        ("archive", "k"),
    ):
        ran = run(*words)
        assert "Traceback" not in ran.err, ran.err
        assert ran.code != 0, (words, ran)
        assert ran.code != 2, "a link is no proof of tampering"
    refused(run("save", "k", "MEMORY.md"), 1, ".indelible", "link")
    assert tree(outside) == before, "nothing was created or changed there"
    assert not (home / "nowhere").exists()


def test_a_link_that_replaces_the_store_of_a_known_reader_is_refused(repo: Kept) -> None:
    older = repo.home / "older"
    os.rename(repo.work / ".indelible", older)
    (repo.work / ".indelible").symlink_to(older)
    ran = repo.run("load", "MEMORY.md")
    refused(ran, 1, "link")
    assert ran.stdout == b""


def test_settings_of_a_repository_do_not_lead_out_of_it(home: Path, run: Run) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / ".indelible").mkdir()
    for place in ("../outside.db", str(home / "outside.db"), "~/outside.db"):
        (work / ".indelible" / "config.toml").write_text(f"store = {json.dumps(place)}\n", encoding="utf-8")
        refused(run("init"), 1, "INDELIBLE_STORE")
        refused(run("save", "k", input=b"x"), 1)
        assert not list(home.glob("outside*"))


SETTINGS = {
    "no TOML": b"agent = ", "a number": b"agent = 5", "unknown": b"agnet = 'x'", "no UTF-8": b"\xff", "empty": b"agent = ''",
    "deep": b"agents = " + b"[" * 5000, "nul": b'agent = "a\x00b"',
}  # fmt: skip


@pytest.mark.parametrize("fault", SETTINGS)
def test_a_settings_file_that_is_wrong_is_named(home: Path, run: Run, fault: str) -> None:
    work = home / "work"
    git(work, "init", "-q")
    (work / ".indelible").mkdir()
    (work / ".indelible" / "config.toml").write_bytes(SETTINGS[fault])
    for words in (("verify", "k"), ("list",), ("init",)):
        ran = run(*words)
        assert ran.code == 64, ran
        assert "config.toml" in ran.err
        assert "Traceback" not in ran.err


# O-SEC-05


def test_text_and_every_checksum_in_the_store_edited_together(kept: Kept) -> None:
    """Whoever can write the file can write all of it; the signature and the log are not his to write."""
    kept.save("embedded", json.dumps({"text": "one", "checksum": f"sha256:{sha256(b'one')}"}).encode())
    kept.save("plain", b"one")
    kept.save("plain.sha256", sha256(b"one").encode())
    two = json.dumps({"text": "two", "checksum": f"sha256:{sha256(b'two')}"}).encode()
    kept.sql("UPDATE record SET content = ? WHERE CAST(content AS TEXT) LIKE '%checksum%'", two)
    kept.sql("UPDATE record SET content = ? WHERE content = ?", b"two", b"one")
    kept.sql("UPDATE record SET content = ? WHERE content = ?", sha256(b"two").encode(), sha256(b"one").encode())
    for key in ("embedded", "plain", "plain.sha256"):
        refused(kept.run("verify", key), 2)
        assert kept.run("load", key).stdout == b""


def test_a_checksum_that_does_not_match_what_was_saved_with_it(kept: Kept) -> None:
    """The store is whole, and yet the writer stated another digest: said, and exit 2."""
    kept.save("plain", b"one")
    kept.save("plain.sha256", sha256(b"other").encode())
    ran = kept.run("verify", "plain")
    assert ran.code == 2
    assert kept.run("verify", "--", "plain") == ran
    kept.save("plain.sha256", sha256(b"one").encode())
    assert kept.run("verify", "plain").code == 0


@pytest.fixture
def plain(server: PlainServer, home: Path, run: Run) -> PlainServer:
    """A plain Memory API that holds `MEMORY.md` in both of the seed's forms, saved by this machine."""
    (home / "work" / "MEMORY.md").write_bytes(FIRST)
    return server


def there(server: PlainServer) -> dict[str, str]:
    return {
        "MEMORY_API_BASE": server.url,
        "MEMORY_API_KEY_EROS": "4mL_Qtest",
        "INDELIBLE_AGENT": "eros",
        "no_proxy": "*",
    }


FORMS = {"detached": (), "embedded": ("--embed",)}


def forge(server: PlainServer, form: str, text: str) -> None:
    """Text and checksum both, as somebody with the server's database would."""
    if form == "detached":
        server.put("eros", "MEMORY.md", text)
        server.put("eros", "MEMORY.md.sha256", sha256(text.encode()))
    else:
        server.put("eros", "MEMORY.md", json.dumps({"text": text, "checksum": f"sha256:{sha256(text.encode())}"}))


@pytest.mark.parametrize("form", FORMS)
def test_on_a_plain_server_the_machine_that_saved_knows_better(plain: PlainServer, run: Run, form: str) -> None:
    env = there(plain)
    saved = run("save", "MEMORY.md", "MEMORY.md", *FORMS[form], env=env)
    assert saved.code == 0, saved.err
    good = run("verify", "MEMORY.md", env=env)
    assert good.code == 0, good.err
    assert f"✅ verified  sha256:{sha256(FIRST)}" in good.out
    assert run("verify", "MEMORY.md", "MEMORY.md", env=env).code == 0
    edited = run("verify", "MEMORY.md", "-", env=env, input=FIRST + b"x")
    assert (edited.code, "tampering" in edited.out) == (2, False)
    assert run("verify", "MEMORY.md", "-", env=env, input=FIRST.replace(b"\n", b"\r\n")).code == 5
    forge(plain, form, "forged\n")
    ran = run("verify", "MEMORY.md", env=env)
    assert ran.code == 2
    assert "differs from what this machine saved" in ran.out + ran.err
    refused(run("load", "MEMORY.md", env=env), 2)


@pytest.mark.parametrize("form", FORMS)
def test_an_incident_at_a_plain_server_is_told_as_well(plain: PlainServer, run: Run, form: str) -> None:
    env = there(plain)
    for key in ("MEMORY.md", "OTHER.md"):
        assert run("save", key, "MEMORY.md", *FORMS[form], env=env).code == 0
        assert run("load", key, env=env).code == 0
    assert run("incident", env=env).code == 0
    assert "a plain Memory API" in run("doctor", env=env).out
    forge(plain, form, "forged\n")
    refused(run("load", "MEMORY.md", env=env), 2)
    told = run("incident", env=env)
    assert told.code == 2, told
    assert "'MEMORY.md'" in told.out
    assert "OTHER.md" not in told.out.split("Handed out")[0]
    document = said(run("incident", "--json", env=env))
    assert [(one["key"], bool(one["earliest"])) for one in document["altered"]] == [("MEMORY.md", True)]
    assert document["delivered"]
    assert any("save MEMORY.md FILE --force" in step for step in document["steps"])
    assert run("save", "MEMORY.md", "MEMORY.md", *FORMS[form], "--force", env=env).code == 0
    assert run("incident", env=env).code == 0


def test_an_incident_at_a_plain_server_is_never_called_sound_unlooked(plain: PlainServer, run: Run) -> None:
    forge(plain, "detached", "of somebody else\n")
    refused(run("incident", env=there(plain)), 1, "no receipt")


@pytest.mark.parametrize("form", FORMS)
def test_on_a_plain_server_the_forged_row_does_not_say_what_is_restored(
    plain: PlainServer, run: Run, home: Path, form: str
) -> None:
    work, env = home / "work", there(plain)
    git(work, "init", "-q", "-b", "main")
    git(work, "remote", "add", "origin", "https://git.example.org/team/notes.git")
    git(work, "add", "MEMORY.md")
    git(work, "commit", "-qm", "first")
    assert run("save", "MEMORY.md", "MEMORY.md", *FORMS[form], env=env).code == 0
    (work / "MEMORY.md").write_bytes(b"another\n")
    git(work, "commit", "-qam", "moved on")
    text = {
        "text": "evil",
        "checksum": f"sha256:{sha256(b'another' + bytes([10]))}",
        "source": "team/notes/MEMORY.md",
        "branch": "main",
    }
    plain.put("eros", "MEMORY.md", json.dumps(text) if form == "embedded" else "evil")
    assert run("verify", "MEMORY.md", env=env).code == 2
    ran = run("restore", "MEMORY.md", "--from-git", env=env)
    assert ran.code == 0, ran.err
    assert run("verify", "MEMORY.md", env=env).code == 0
    loaded = run("load", "MEMORY.md", env=env)
    assert FIRST.decode() in (json.loads(loaded.out)["text"] if form == "embedded" else loaded.out)


@pytest.mark.parametrize("form", FORMS)
def test_on_a_plain_server_another_machine_is_told_that_it_is_unkeyed(plain: PlainServer, run: Run, form: str) -> None:
    forge(plain, form, "whatever\n")
    ran = run("verify", "MEMORY.md", env=there(plain))
    assert ran.code == 0
    assert "unkeyed" in ran.err
    document = said(run("verify", "--json", "MEMORY.md", env=there(plain)))
    assert document["keyed"] is False


def test_the_three_states_of_the_seed(plain: PlainServer, run: Run) -> None:
    """A legacy memory that never had a checksum: a warning and 0, and with --strict 2. One that had one: 2."""
    env = there(plain)
    plain.put("eros", "old", "no checksum")
    ran = run("verify", "old", env=env)
    assert (ran.code, ran.out.startswith("⚠️")) == (0, True)
    assert run("verify", "old", "--strict", env=env).code == 2
    for unreadable in ("", "f" * 63, "sha1:" + "0" * 40, "not hex" * 10):
        plain.put("eros", "bad", "text")
        plain.put("eros", "bad.sha256", unreadable)
        assert run("verify", "bad", env=env).code == 2, unreadable
    plain.put("eros", "edited", "text")
    plain.put("eros", "edited.sha256", sha256(b"other"))
    edited = run("verify", "edited", env=env)
    assert edited.code == 2
    assert edited.out.startswith("❌")
    korean = run("verify", "edited", env=env | {"LANG": "ko_KR.UTF-8"})
    assert korean.out.startswith("❌ 변조 감지 — 복원 중단 권고")
    assert said(run("verify", "nothing", "--json", env=env))["exit_code"] == 3


def test_a_plain_server_is_not_saved_over_blindly(plain: PlainServer, run: Run) -> None:
    """It knows no conditions, so they are looked at just before."""
    env = there(plain)
    assert run("save", "MEMORY.md", "MEMORY.md", env=env).code == 0
    plain.put("eros", "MEMORY.md", "line A")
    plain.put("eros", "MEMORY.md.sha256", sha256(b"line A"))
    refused(run("save", "MEMORY.md", "--based-on", sha256(FIRST), input=b"line B", env=env), 5, sha256(b"line A"))
    refused(run("save", "MEMORY.md", input=b"", env=env), 6, "--allow-empty")
    assert plain.get("eros", "MEMORY.md") == "line A"
    assert run("save", "MEMORY.md", "--based-on", sha256(FIRST), "--force", input=b"line B", env=env).code == 0
    assert plain.get("eros", "MEMORY.md") == "line B"
    assert run("save", "fresh", "--based-on", "", input=b"1", env=env).code == 0
    refused(run("save", "fresh", "--based-on", "", input=b"2", env=env), 5)


def test_what_a_plain_server_cannot_do_is_said(plain: PlainServer, run: Run) -> None:
    for words in (("history", "MEMORY.md"), ("list",), ("archive", "MEMORY.md"), ("checkpoint",)):
        refused(run(*words, env=there(plain)), 64, "plain Memory API")


# O-XFER-04: a store of another format


def test_a_newer_store_is_refused_by_every_verb_and_not_written(kept: Kept) -> None:
    kept.sql("PRAGMA user_version = 99")
    before = {
        side: data
        for side in SIDES
        if side != "-shm" and (data := tree(kept.store.parent).get(f"store.db{side}")) is not None
    }
    for words in (
        ("verify", "MEMORY.md"),
        ("load", "MEMORY.md"),
        ("list",),
        ("save", "MEMORY.md", "-"),
        ("archive", "MEMORY.md"),
        ("init",),
        ("audit",),
    ):
        refused(kept.run(*words, input=b"x"), 1, "format 99", "Upgrade")
    for side, data in before.items():
        assert kept.store.with_name(f"store.db{side}").read_bytes() == data


def test_an_upgrade_finds_every_memory_where_it_was(kept: Kept) -> None:
    """A new version looks in the same place: the store is where `doctor` says that it is."""
    assert str(kept.store) in kept.run("doctor").out
    assert kept.sql("PRAGMA user_version") == [(1,)]


LIES: dict[str, Callable[[Kept], object]] = {
    "negative format": lambda kept: kept.sql("PRAGMA user_version = -1"),
    "no format": lambda kept: kept.sql("PRAGMA user_version = 0"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_format_that_never_was_is_not_upgraded(kept: Kept, lie: str) -> None:
    LIES[lie](kept)
    ran = kept.run("verify", "MEMORY.md")
    assert ran.code in (1, 2), ran
    assert "Traceback" not in ran.err
    assert not list(kept.store.parent.glob("*.bak"))
