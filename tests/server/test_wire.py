"""The seeds' wire form: their unmodified clients, exact replies, checksums, expiry, and what is not as it was sealed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving import rows, save

if TYPE_CHECKING:
    import httpx
    from tests.server.conftest import Serve
    from tests.serving import Served

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
SEEDS = VECTORS / "seeds"
KEYS: dict[str, list[str]] = json.loads((VECTORS / "cases" / "key_list_open.json").read_text(encoding="utf-8"))
TEXT = "# 기억\r\n다음: 배포 🚀\u2028끝\0"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def seed_client(served: Served, monkeypatch: pytest.MonkeyPatch, agent: str = "eros") -> dict[str, Any]:
    """Seed 000's `memory_client.py`, of which only the address and the key are ours."""
    monkeypatch.setenv("MEMORY_API_BASE", served.url)
    monkeypatch.setenv("MEMORY_API_KEY_EROS", served.key(agent))
    names: dict[str, Any] = {}
    exec(compile((SEEDS / "memory_client.txt").read_text(encoding="utf-8"), "memory_client.py", "exec"), names)  # noqa: S102 - our own file
    return names


def run_seed(name: str, served: Served, folder: Path, **puts: str) -> str:
    """One of seed 001's scripts, with its capital-letter constants replaced and nothing else."""
    text = (SEEDS / name).read_text(encoding="utf-8")
    puts = {"MEMORY_API": served.url, **puts}
    for constant, value in puts.items():
        text, count = re.subn(
            rf"^{constant} *= .*$", f"{constant} = {value!r}".replace("\\", r"\\"), text, flags=re.MULTILINE
        )
        assert count == 1, constant
    (folder / "script.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "script.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    return done.stdout + done.stderr


def test_seed_000_saves_and_loads_what_it_saved(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = seed_client(shared, monkeypatch)
    assert seed["save"]("MEMORY.md", TEXT) == {
        "status": "saved", "key": "MEMORY.md", "checksum_key": "MEMORY.md.sha256", "checksum": f"sha256:{sha256(TEXT)}",
        "content_saved": True, "checksum_saved": True,
    }  # fmt: skip
    assert seed["load"]("MEMORY.md") == {"content": TEXT, "checksum": f"sha256:{sha256(TEXT)}", "checksum_ok": True}
    assert seed["load"]("absent") == {"error": "key 'absent' not found"}


def test_seed_001_saves_and_restores(shared: Served, tmp_path: Path) -> None:
    key = shared.key("rudex")
    (tmp_path / "MEMORY.md").write_text(TEXT, encoding="utf-8", newline="")
    same = {"AGENT_NAME": "rudex", "API_KEY": key}
    saved = run_seed("embed_save.txt", shared, tmp_path, MEMORY_PATH="MEMORY.md", KEY_NAME="MEMORY_MD_20260610", **same)
    assert "{'status': 'saved', 'agent': 'rudex', 'key': 'MEMORY_MD_20260610'}" in saved
    assert "PASS" in run_seed("embed_restore.txt", shared, tmp_path, KEY_NAME="MEMORY_MD_20260610", **same)
    assert "MEMORY_MD_20260611" in run_seed(
        "embed_restore.txt", shared, tmp_path, KEY_NAME="MEMORY_MD_20260611", **same
    )


def test_the_replies_are_the_seeds_to_the_byte(shared: Served) -> None:
    client = shared.client("exact")
    reply = client.post("/memory/save", json={"agent": "exact", "key": "a", "content": "b"})
    assert (reply.status_code, reply.content) == (200, b'{"status":"saved","agent":"exact","key":"a"}')
    assert (
        client.get("/memory/load?agent=exact&key=a").json()["memories"][0].items()
        >= {"key_name": "a", "content": "b"}.items()
    )
    assert client.get("/memory/load?agent=exact&key=none").content == b'{"memories":[]}'
    assert list(client.get("/memory/load?agent=exact").json()) == ["memories"]


# Keys and names


@pytest.mark.parametrize("group", ["query", "lookalike", "escape"])
def test_every_key_is_its_own(shared: Served, group: str) -> None:
    client = shared.client(f"keys-{group}")
    names = [
        *(name for name in KEYS[group] if name),
        "MEMORY.md",
        "Notes",
        "notes",
        "\ubaa8",
        "\u1106\u1169",
        "a\nb",
        "\0",
        "가" * 170,
        "가" * 169 + "나",
    ]
    for number, name in enumerate(names):
        assert save(client, name, str(number)).status_code == 200
    assert [rows(client, name) for name in names] == [{name: str(number)} for number, name in enumerate(names)]
    assert rows(client) == {name: str(number) for number, name in enumerate(names)}
    assert [rows(client, name + ".sha256") for name in names[:3]] == [
        {name + ".sha256": sha256(str(number))} for number, name in enumerate(names[:3])
    ]


@pytest.mark.parametrize("name", ["", "k" * 513, "가" * 171])
def test_a_key_that_cannot_be_is_refused_with_the_limit(shared: Served, name: str) -> None:
    client = shared.client("limits")
    for reply in (save(client, name, "x"), client.get("/memory/load", params={"key": name})):
        assert reply.status_code == 400
        assert "512" in reply.text


def test_a_key_that_was_not_quoted_is_noticed_and_not_cut(shared: Served) -> None:
    client = shared.client("unquoted")
    save(client, "a", "wrong")
    assert [
        client.get(f"/memory/load?key={raw}").status_code for raw in ("a&b", "a&agent=other", "a&key=b", "a?x=1&y")
    ] == [400, 403, 400, 400]


# Whose memory it is


def test_another_agents_name_is_refused_alike_whether_or_not_there_is_something(shared: Served) -> None:
    dami, bora = shared.client("dami"), shared.client("bora")
    save(dami, "secret", "of dami")
    answers = {
        (reply.status_code, reply.text)
        for reply in (
            bora.get("/memory/load?agent=dami&key=secret"), bora.get("/memory/load?agent=dami&key=none"), bora.get("/memory/load?agent=dami"),
            bora.get("/memory/load?agent=nobody&key=secret"), bora.get("/v1/memories?agent=dami"), bora.get("/v1/memory?agent=dami&key=secret"),
            bora.delete("/v1/memory?agent=dami&key=secret"), save(bora, "secret", "of bora", agent="dami"), save(bora, "new", "x", agent="nobody"),
            bora.get("/memory/load", headers={"x-agent": "dami"}), bora.post("/memory/save", headers={"X-Agent-Id": "dami"}, json={"key": "k", "content": "c"}),
        )
    }  # fmt: skip
    assert [status for status, _ in answers] == [403]
    assert (rows(dami), rows(bora)) == ({"secret": "of dami"}, {})


@pytest.mark.parametrize(
    "query", ["agent=", "agent=*", "agent=%25", "agent=%", "agent=own&agent=own", "agent=own&agent=dami"]
)
def test_no_agent_a_wildcard_or_two_are_refused(shared: Served, query: str) -> None:
    assert shared.client("own").get(f"/memory/load?{query}").status_code == 400


def test_an_agent_that_is_left_out_is_the_keys_own(shared: Served) -> None:
    mine, other = shared.client("left-out"), shared.client("someone")
    save(other, "k", "theirs")
    save(mine, "k", "mine")
    assert rows(mine) == {"k": "mine"}


@pytest.mark.parametrize(
    "header", [{}, {"x-api-key": ""}, {"x-api-key": "idl_000000000000_" + "A" * 43}, {"authorization": "Bearer x"}]
)
@pytest.mark.parametrize(
    "path", ["/memory/load?agent=eros", "/memory/load", "/v1/memories", "/v1/entries", "/v1/keys", "/v1/audit"]
)
def test_without_a_key_there_is_no_answer(shared: Served, header: dict[str, str], path: str) -> None:
    import httpx

    reply = httpx.get(shared.url + path, headers=header)
    assert (reply.status_code, reply.headers["content-type"], reply.json()["slug"]) == (
        401,
        "application/problem+json",
        "no-api-key",
    )
    assert reply.headers["www-authenticate"].startswith("ApiKey")


def test_a_key_given_twice_is_none(shared: Served) -> None:
    import httpx

    key = shared.key()
    assert httpx.get(shared.url + "/memory/load", headers=[("x-api-key", key), ("x-api-key", key)]).status_code == 401


def test_a_key_does_what_its_verbs_say(shared: Served) -> None:
    full, reads, writes = shared.client("verbs"), shared.client("verbs", {"read"}), shared.client("verbs", {"write"})
    save(full, "k", "v")
    assert (rows(reads), save(reads, "k", "x").status_code, reads.delete("/v1/memory?key=k").status_code) == (
        {"k": "v"},
        403,
        403,
    )
    assert (save(writes, "k", "w").status_code, writes.get("/memory/load?key=k").status_code) == (200, 403)
    assert (rows(full), writes.delete("/v1/memory?key=k").status_code) == ({"k": "w"}, 403)


def test_a_key_with_a_prefix_sees_and_changes_nothing_else(shared: Served) -> None:
    full, some = shared.client("prefixed"), shared.client("prefixed", prefix="team/")
    save(full, "other", "o")
    save(full, "team/a", "t")
    assert (rows(some), rows(some, "team/a"), rows(some, "team/a.sha256")) == (
        {"team/a": "t"},
        {"team/a": "t"},
        {"team/a.sha256": sha256("t")},
    )
    refused = [
        some.get("/memory/load?key=other"), some.get("/memory/load?key=none"), save(some, "other", "x"), some.get("/v1/memories?prefix=o"),
        some.get("/v1/entries"), some.get("/v1/sealed?seq=0"), some.get("/v1/head"), some.post("/v1/archive", json={"key": "other"}),
        some.post("/v1/restore", json={"key": "other", "version": 1}), some.get("/v1/history?key=other"), some.delete("/v1/memory?key=other"),
    ]  # fmt: skip
    assert {reply.status_code for reply in refused} == {403}
    assert [row["key"] for row in some.get("/v1/memories").json()["memories"]] == ["team/a"]
    assert rows(full, "other") == {"other": "o"}


def test_a_prefix_that_ends_in_sha256_tells_nothing_of_the_memory_itself(shared: Served) -> None:
    full, some = shared.client("narrow"), shared.client("narrow", prefix="k.sha256")
    save(full, "k", "out of reach")
    assert rows(some, "k.sha256") == {}
    save(full, "k.sha256", "0" * 64)
    assert (rows(some, "k.sha256"), rows(some)) == ({"k.sha256": "0" * 64}, {"k.sha256": "0" * 64})


def test_a_revoked_key_is_refused_at_the_next_request(shared: Served) -> None:
    from indelible.server.apikeys import ApiKeys

    client = shared.client("revoked")
    assert client.get("/memory/load").status_code == 200
    keys = ApiKeys(shared.settings.config_dir)
    keys.revoke(client.headers["x-api-key"].split("_")[1])
    keys.close()
    assert client.get("/memory/load").status_code == 401


# Checksums


def test_a_checksum_can_be_read_for_every_key(shared: Served) -> None:
    client = shared.client("sums")
    save(client, "k", TEXT)
    assert rows(client, "k.sha256") == {"k.sha256": sha256(TEXT)}
    assert rows(client) == {"k": TEXT}


def test_a_stated_checksum_is_given_back_even_when_it_is_wrong(shared: Served) -> None:
    client = shared.client("stated")
    save(client, "k", "content")
    for stated in ("0" * 64, "", "not a checksum"):
        if stated:
            save(client, "k.sha256", stated)
            assert rows(client, "k.sha256") == {"k.sha256": stated}
    assert rows(client) == {"k": "content", "k.sha256": "not a checksum"}


def test_a_save_cut_between_its_halves_is_no_tampering(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = seed_client(shared, monkeypatch, "eros")
    seed["save"]("cut", "one")
    client = shared.client("eros")
    save(client, "cut", "two")
    assert seed["load"]("cut")["checksum_ok"] is True
    assert {key: value for key, value in rows(client).items() if key.startswith("cut")} == {
        "cut": "two",
        "cut.sha256": sha256("two"),
    }


def test_two_saves_that_cross_are_no_tampering(shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seed, client = seed_client(shared, monkeypatch, "eros"), shared.client("eros")
    save(client, "crossed", "one")
    save(client, "crossed", "two")
    save(client, "crossed.sha256", sha256("two"))
    save(client, "crossed.sha256", sha256("one"))
    assert seed["load"]("crossed")["checksum_ok"] is True


def test_a_checksum_of_a_key_that_is_not_there_is_a_memory_of_its_own(shared: Served) -> None:
    client = shared.client("alone")
    save(client, "k.sha256", "text")
    assert rows(client, "k.sha256") == {"k.sha256": "text"}
    assert rows(client, "k.sha256.sha256") == {"k.sha256.sha256": sha256("text")}
    assert rows(client, ".sha256") == {}


def test_embedded_json_is_just_content(shared: Served) -> None:
    client = shared.client("embedded")
    text = json.dumps({"text": "x", "checksum": "sha256:0", "key_name": "other"}, ensure_ascii=False)
    save(client, "k", text)
    assert rows(client) == {"k": text}


# Expiry and lifecycle


def test_an_expiry_is_kept_and_honoured(shared: Served) -> None:
    client = shared.client("expiry")
    assert save(client, "past", "x", expires_at="2026-01-01T00:00:00+09:00").status_code == 200
    assert save(client, "far", "x", expires_at="9999-12-31T23:59:59Z").status_code == 200
    assert save(client, "null", "x", expires_at=None).status_code == 200
    assert rows(client) == {"far": "x", "null": "x"}
    assert (rows(client, "past"), client.get("/v1/memory?key=past").status_code) == ({}, 423)
    assert client.get("/memory/load?key=far").json()["memories"][0]["expires_at"] == "9999-12-31T23:59:59Z"


def test_it_expires_with_no_job_in_the_background(shared: Served) -> None:
    client = shared.client("soon")
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    save(client, "k", "x", expires_at=soon)
    assert rows(client, "k") == {"k": "x"}
    time.sleep(2.5)
    assert (rows(client, "k"), rows(client)) == ({}, {})


def test_a_save_without_an_expiry_never_expires_whatever_was_before(shared: Served) -> None:
    client = shared.client("again")
    save(client, "k", "old", expires_at="2026-01-01T00:00:00Z")
    save(client, "k", "new")
    save(client, "f", "old", expires_at="9999-01-01T00:00:00Z")
    save(client, "f", "new")
    assert rows(client) == {"f": "new", "k": "new"}
    assert "expires_at" not in client.get("/memory/load?key=f").json()["memories"][0]


@pytest.mark.parametrize(
    "expires", ["", "never", 0, -1, "2026-11-10", "2026-11-10T00:00:00", "2026-02-29T00:00:00Z", {"t": 1}, True]
)
def test_an_expiry_that_is_none_is_refused_and_nothing_is_saved(shared: Served, expires: object) -> None:
    client = shared.client("bad-expiry")
    reply = save(client, "k", "x", expires_at=expires)
    assert (reply.status_code, reply.headers["content-type"], rows(client)) == (400, "application/problem+json", {})


def test_what_is_archived_or_erased_is_no_row(shared: Served) -> None:
    client = shared.client("gone")
    for key in ("a", "e", "k"):
        save(client, key, key)
    client.post("/v1/archive", json={"key": "a"})
    client.delete("/v1/memory?key=e")
    assert (rows(client), rows(client, "a"), rows(client, "e")) == ({"k": "k"}, {}, {})


def test_nothing_over_something_is_refused(shared: Served) -> None:
    client = shared.client("emptied")
    save(client, "k", "x" * 2_048)
    assert save(client, "k", "").json()["slug"] == "discipline"
    assert (save(client, "new", "").status_code, rows(client)) == (200, {"k": "x" * 2_048, "new": ""})


def test_bytes_that_are_no_text_are_never_a_text(serve: Serve) -> None:
    served = serve()
    with served.memory() as memory:
        memory.save("b", b"\xff\0")
    row = served.client().get("/memory/load?key=b").json()["memories"][0]
    assert (row["content"], row["content_base64"]) == (None, "/wA=")


# What is not as it was sealed


def tampered(served: Served) -> httpx.Client:
    """Three memories, and the middle one edited behind the server's back."""
    client = served.client()
    for key in ("a", "b", "c"):
        save(client, key, f"text of {key}")
    served.sql("UPDATE record SET content = CAST('evil text' AS BLOB) WHERE content = CAST('text of b' AS BLOB)")
    return client


def test_an_edited_memory_is_refused_by_key_and_untouched_ones_load(served: Served) -> None:
    client = tampered(served)
    reply = client.get("/memory/load?agent=eros&key=b")
    assert (reply.status_code, reply.headers["content-type"], reply.json()["slug"]) == (
        409,
        "application/problem+json",
        "digest-mismatch",
    )
    assert client.get("/memory/load?key=b.sha256").status_code == 409
    assert (rows(client, "a"), rows(client, "c")) == ({"a": "text of a"}, {"c": "text of c"})


def test_a_list_with_an_edited_memory_names_it_leaves_it_out_and_is_no_success(served: Served) -> None:
    client = tampered(served)
    save(client, "b.sha256", sha256("evil text"))
    reply = client.get("/memory/load?agent=eros")
    assert reply.status_code == 409
    assert {row["key_name"]: row["content"] for row in reply.json()["memories"]} == {"a": "text of a", "c": "text of c"}
    assert [(finding["slug"], finding["key"]) for finding in reply.json()["findings"]] == [("digest-mismatch", "b")]
    assert "evil" not in reply.text


def test_the_seeds_clients_never_take_an_edited_text_for_good(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tampered(served)
    seed = seed_client(served, monkeypatch)
    assert seed["load"]("b") == {"error": "key 'b' not found"}
    assert seed["load"]("a")["checksum_ok"] is True
    same = {"AGENT_NAME": "eros", "API_KEY": served.key()}
    assert "PASS" not in run_seed("embed_restore.txt", served, tmp_path, KEY_NAME="b", **same)


def test_an_edit_of_text_and_checksum_together_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = seed_client(served, monkeypatch)
    seed["save"]("k", "true")
    served.sql("UPDATE record SET content = CAST('evil' AS BLOB) WHERE content = CAST('true' AS BLOB)")
    served.sql(
        "UPDATE record SET content = CAST(? AS BLOB) WHERE content = CAST(? AS BLOB)", sha256("evil"), sha256("true")
    )
    assert seed["load"]("k") == {"error": "key 'k' not found"}


def test_a_deleted_row_is_missed(served: Served) -> None:
    client = tampered(served)
    served.sql("DELETE FROM record WHERE content = CAST('text of c' AS BLOB)")
    assert client.get("/memory/load?key=c").json()["slug"] == "missing"
    assert [finding["key"] for finding in client.get("/memory/load").json()["findings"]] == ["b", "c"]


def test_when_the_log_is_broken_untouched_memories_load_with_the_finding_said(served: Served) -> None:
    client = served.client()
    save(client, "a", "text")
    served.sql("UPDATE log SET note = CAST(replace(CAST(note AS TEXT), '— ', '- ') AS BLOB)")
    reply = client.get("/memory/load?key=a")
    assert (reply.status_code, reply.json()["memories"][0]["content"], len(reply.json()["findings"])) == (
        200,
        "text",
        1,
    )
    assert (client.get("/memory/load").status_code, save(client, "b", "x").status_code) == (409, 409)


def test_an_older_copy_of_the_whole_store_is_refused(served: Served) -> None:
    import shutil

    client = served.client()
    save(client, "k", "old")
    served.stop()
    copies = {
        side: Path(served.store + side).read_bytes()
        for side in ("", "-wal", "-shm")
        if os.path.exists(served.store + side)
    }
    served.start()
    client = served.client()
    save(client, "k", "new")
    shutil.rmtree(os.path.dirname(served.store))
    os.makedirs(os.path.dirname(served.store))
    for side, data in copies.items():
        Path(served.store + side).write_bytes(data)
    for path in ("/memory/load?key=k", "/memory/load", "/v1/checkpoint", "/v1/memory?key=k"):
        assert client.get(path).json()["slug"] == "rolled-back", path


def test_rows_that_the_log_does_not_cover_are_named_and_harm_nothing(served: Served) -> None:
    client = served.client()
    save(client, "a", "text")
    served.sql("INSERT INTO record SELECT id + 7, salt, body, content FROM record")
    reply = client.get("/memory/load")
    assert (reply.status_code, [finding["slug"] for finding in reply.json()["findings"]]) == (409, ["stray-rows"])
    assert [row["key_name"] for row in reply.json()["memories"]] == ["a"]
    assert rows(client, "a") == {"a": "text"}


def test_more_than_a_page_of_memories_all_come(serve: Serve) -> None:
    served = serve()
    with served.memory() as memory:
        memory.save("first", b"x")
    client = served.client()
    count = 1_205
    for number in range(count - 1):
        save(client, f"k{number:05}", "한글" * 100)
    found = rows(client)
    assert (len(found), found["k01203"], rows(client, "k01203")) == (count, "한글" * 100, {"k01203": "한글" * 100})
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = client.get("/v1/memories", params={"limit": 500, "cursor": cursor}).json()
        assert page["total"] == count
        seen += [row["key"] for row in page["memories"]]
        cursor = page["next"]
    assert (len(seen), len(set(seen))) == (count, count)
    past = client.get("/v1/memories", params={"cursor": "z"}).json()
    assert (past["memories"], past["next"], past["total"]) == ([], None, count)
    assert client.get("/v1/audit").json()["keys"] == count
