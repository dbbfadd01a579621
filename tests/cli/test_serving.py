"""serve and apikey: the command that serves, and the same verbs through it."""

from __future__ import annotations

import http.client
import json
import re
import signal
from typing import TYPE_CHECKING

import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, sha256, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Run


@pytest.fixture
def served(kept: Kept) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The store behind a server of its own, and the environment of a client on another machine."""
    key = said(kept.run("apikey", "create", "eros", "--json"))["key"]
    process = start("serve", "--port", "0", cwd=kept.work)
    assert process.stderr is not None
    line = process.stderr.readline().decode()
    address = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert address is not None, line
    there = kept.home / "there"
    yield address[0], {
        "INDELIBLE_STORE": address[0], "INDELIBLE_API_KEY": key, "INDELIBLE_AGENT": "eros", "no_proxy": "*",
        "XDG_CONFIG_HOME": str(there / "config"), "XDG_STATE_HOME": str(there / "state"), "XDG_DATA_HOME": str(there / "data"),
    }  # fmt: skip
    process.send_signal(signal.SIGTERM)
    ran = ended(process, timeout=30)
    assert ran.code == 0, ran
    assert "Traceback" not in ran.err


def test_an_api_key_is_shown_once_and_kept_as_a_digest(kept: Kept) -> None:
    made = kept.run("apikey", "create", "eros", "--verb", "read", "--prefix", "notes/")
    text = made.out.strip()
    assert made.code == 0
    assert "only now" in made.err
    listed = kept.run("apikey", "list").out
    assert text not in listed
    assert "eros" in listed
    assert "notes/" in listed
    for path in (kept.home / "config").rglob("*"):
        if path.is_file():
            assert text.encode() not in path.read_bytes(), path
    (item,) = said(kept.run("apikey", "list", "--json"))["keys"]
    assert (item["agent"], item["verbs"], item["revoked"]) == ("eros", ["read"], None)
    assert kept.run("apikey", "revoke", item["id"]).code == 0
    assert "revoked" in kept.run("apikey", "list").out
    refused(kept.run("apikey", "revoke", "nothing"), 3, "apikey list")
    refused(kept.run("apikey", "create", "eros", "--verb", "dance"), 64)


def test_every_verb_works_through_a_server(kept: Kept, served: tuple[str, dict[str, str | None]]) -> None:
    _, env = served
    assert kept.run("save", "MEMORY.md", "-", input=FIRST, env=env).code == 0
    assert kept.run("save", "MEMORY.md", "-", input=b"second\n", env=env).code == 0
    assert kept.run("load", "MEMORY.md", env=env).stdout == b"second\n"
    assert kept.run("load", "MEMORY.md", "--version", "1", env=env).stdout == FIRST
    good = kept.run("verify", "MEMORY.md", env=env)
    assert good.code == 0
    assert sha256(b"second\n") in good.out
    for words in (
        ("list",), ("history", "MEMORY.md"), ("checkpoint",), ("pin", "show"), ("proof", "MEMORY.md"), ("doctor",), ("archive", "MEMORY.md"), ("audit",), ("incident",),
        ("unarchive", "MEMORY.md"), ("restore", "MEMORY.md", "--version", "1"), ("erase", "MEMORY.md", "--yes"),
    ):  # fmt: skip
        ran = kept.run(*words, "--json", env=env)
        assert ran.code == 0, (words, ran)
        said(ran)
    assert kept.run("diff", "MEMORY.md", env=env).code == 3
    conflict = kept.run("save", "MEMORY.md", "--based-on", "0" * 64, input=b"x", env=env)
    refused(conflict, 5)


def test_of_a_server_it_is_said_that_its_files_cannot_be_searched_from_here(
    kept: Kept, served: tuple[str, dict[str, str | None]]
) -> None:
    address, env = served
    secret = b"the password of the staging database is rhododendron-7741\n"
    assert kept.run("save", "secret", "-", input=secret, env=env).code == 0
    ran = kept.run("erase", "secret", "--verify", "--yes", "--json", env=env)
    assert (ran.code, said(ran)["slug"]) == (1, "unchecked")
    assert f"The files of the server {address} cannot be searched from here" in ran.err
    for side in ("", "-wal"):
        path = kept.store.with_name(kept.store.name + side)
        assert not path.exists() or b"rhododendron" not in path.read_bytes()


def test_a_store_altered_behind_the_server_is_found_by_the_client(
    kept: Kept, served: tuple[str, dict[str, str | None]]
) -> None:
    _, env = served
    assert kept.run("save", "MEMORY.md", "-", input=FIRST, env=env).code == 0
    kept.alter()
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("list",)):
        ran = kept.run(*words, env=env)
        assert ran.code == 2, (words, ran)
        assert FIRST not in ran.stdout


def test_a_server_rolled_back_is_found_by_the_client(kept: Kept, served: tuple[str, dict[str, str | None]]) -> None:
    _, env = served
    assert kept.run("save", "MEMORY.md", "-", input=FIRST, env=env).code == 0
    row = kept.sql("SELECT note FROM log WHERE agent = 'eros'")[0][0]
    assert kept.run("save", "MEMORY.md", "-", input=b"second\n", env=env).code == 0
    kept.sql("UPDATE log SET note = ? WHERE agent = 'eros'", row)
    kept.sql("DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)")
    refused(kept.run("verify", "MEMORY.md", env=env), 2)


def test_the_seeds_plain_requests_are_answered(kept: Kept, served: tuple[str, dict[str, str | None]]) -> None:
    address, env = served
    headers = {"x-api-key": str(env["INDELIBLE_API_KEY"]), "content-type": "application/json"}
    body = json.dumps({"agent": "eros", "key": "MEMORY.md", "content": FIRST.decode()})
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    connection.request("POST", "/memory/save", body, headers)
    assert json.load(connection.getresponse()) == {"status": "saved", "agent": "eros", "key": "MEMORY.md"}
    connection.request("GET", "/memory/load?agent=eros&key=MEMORY.md", headers=headers)
    (row,) = json.load(connection.getresponse())["memories"]
    connection.close()
    assert (row["key_name"], row["content"]) == ("MEMORY.md", FIRST.decode())


@pytest.mark.parametrize(("key", "code"), [("wrong_key_of_nobody", 1), (None, 64)])
def test_a_key_that_does_not_open_is_no_verdict(
    kept: Kept, served: tuple[str, dict[str, str | None]], key: str | None, code: int
) -> None:
    _, env = served
    for words in (("verify", "MEMORY.md"), ("save", "MEMORY.md", "-")):
        ran = kept.run(*words, env=env | {"INDELIBLE_API_KEY": key}, input=b"x")
        refused(ran, code)
        assert ran.stdout == b""


def test_the_key_of_another_agent_is_a_wrong_setting_and_called_so(
    kept: Kept, served: tuple[str, dict[str, str | None]]
) -> None:
    _, env = served
    assert kept.run("save", "MEMORY.md", "-", input=FIRST, env=env).code == 0
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("save", "MEMORY.md", "-")):
        ran = kept.run(*words, env=env | {"INDELIBLE_AGENT": "other"}, input=b"x")
        refused(ran, 1, "eros", "other")
    assert kept.run("load", "MEMORY.md", env=env).stdout == FIRST


def test_a_server_that_is_down_could_not_be_checked(run: Run) -> None:
    env = {"INDELIBLE_STORE": "http://127.0.0.1:9", "INDELIBLE_API_KEY": "x" * 30, "no_proxy": "*"}
    for words in (("verify", "MEMORY.md"), ("load", "MEMORY.md"), ("list",), ("save", "MEMORY.md", "-")):
        ran = run(*words, env=env, input=b"x")
        refused(ran, 1, "127.0.0.1:9")
        assert ran.stdout == b""


def test_a_port_that_is_taken_is_said(kept: Kept, served: tuple[str, dict[str, str | None]]) -> None:
    port = served[0].rsplit(":", 1)[1]
    refused(kept.run("serve", "--port", port), 1, port, "--port")
    refused(kept.run("serve", "--port", "70000"), 64)
