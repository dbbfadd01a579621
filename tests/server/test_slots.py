"""`/v1/state`, and every other path by which a slot could be written: the disciplines bind what the server attests and what a client signed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import indelible_command
from tests.keeping.desks import STATE_OK, lift_the_disciplines
from tests.serving import home_of
from tests.support import signer_of

from indelible import settings
from indelible.errors import AccessDenied, DisciplineError
from indelible.keeping import StateDirectory
from indelible.memory.deciding import Decision
from indelible.store.remote import RemoteStore
from indelible.wiring import keystore, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx
    from tests.serving import Served

    from indelible.memory import Memory

OTHER = "# Other\n"
PLAN = "20_plan_approved.md"
KEY = f"state/{PLAN}"
OWNER = signer_of("indelible-owner/test")


@pytest.fixture
def client(served: Served) -> httpx.Client:
    """With an API key for everything, and the five files written through it."""
    made = served.client("eros")
    for name, content in STATE_OK.items():
        assert made.put(f"/v1/state/{name}", json={"content": content.decode()}).status_code == 200
    return made


def refused(reply: httpx.Response) -> bool:
    return (reply.status_code, reply.json()["slug"]) == (409, "discipline")


def attempts(client: httpx.Client) -> list[str]:
    found = client.get("/v1/deliveries", params={"outcome": "refused", "limit": "1000"}).json()["deliveries"]
    return [one["key"] for one in found]


def test_the_slots_are_listed_in_order_with_their_disciplines(client: httpx.Client) -> None:
    document = client.get("/v1/state").json()
    assert [row["name"] for row in document["slots"]] == list(STATE_OK)
    assert [row["discipline"] for row in document["slots"]] == ["write-once"] * 3 + ["append-only", "replaceable"]
    assert (document["namespace"], document["closed"]) == ("state", [])


def test_a_slot_is_shown_with_its_proof(client: httpx.Client) -> None:
    document = client.get(f"/v1/state/{PLAN}").json()
    assert document["content"].encode() == STATE_OK[PLAN]
    assert document["leaf"]
    assert "c2sp.org/tlog-proof" in document["proof"]
    assert client.get("/v1/state/20").json() == document
    assert client.get("/v1/state/21_none.md").status_code == 404
    assert client.get("/v1/state/none").status_code == 400
    assert client.get(f"/v1/state/{PLAN}", params={"namespace": "other"}).status_code == 400


BY_PATH: dict[str, Callable[[httpx.Client], httpx.Response]] = {
    "PUT /v1/state": lambda client: client.put(f"/v1/state/{PLAN}", json={"content": OTHER}),
    "POST /v1/state": lambda client: client.post(f"/v1/state/{PLAN}", json={"content": OTHER}),
    "POST /memory/save": lambda client: client.post("/memory/save", json={"agent": "eros", "key": KEY, "content": OTHER}),
    "PUT /v1/memory": lambda client: client.put("/v1/memory", params={"key": KEY}, json={"content": OTHER}),
    "PUT /v1/memory, a second slot": lambda client: client.put("/v1/memory", params={"key": "state/20_b.md"}, json={"content": OTHER}),
    "POST /v1/archive": lambda client: client.post("/v1/archive", json={"key": KEY}),
    "DELETE /v1/memory": lambda client: client.delete("/v1/memory", params={"key": KEY}),
}  # fmt: skip


@pytest.mark.parametrize("path", BY_PATH)
def test_no_path_of_the_server_rewrites_a_slot_and_the_attempt_is_written_down(client: httpx.Client, path: str) -> None:
    known = len(attempts(client))
    assert refused(BY_PATH[path](client))
    assert len(attempts(client)) == known + 1
    assert client.get(f"/v1/state/{PLAN}").json()["content"].encode() == STATE_OK[PLAN]


def test_what_grows_grows_and_what_is_replaced_is_replaced(client: httpx.Client) -> None:
    assert (
        client.post("/v1/state/30", json={"content": "## Round 3\n"}, headers={"Idempotency-Key": "one"}).json()[
            "version"
        ]
        == 2
    )
    assert client.post("/v1/state/30", json={"content": "## Round 3\n"}, headers={"Idempotency-Key": "one"}).json()[
        "repeated"
    ]
    assert refused(client.put("/v1/state/30", json={"content": OTHER}))
    counter = "Current Target: 4\nLast Completed Step: x\nNext Permitted Action: y\n"
    assert client.put("/v1/state/99", json={"content": counter}).status_code == 200
    assert client.put("/v1/state/99", json={"content": OTHER}).status_code == 400
    assert client.get("/v1/state").status_code == 200


def test_a_key_for_other_keys_reaches_no_slot(served: Served, client: httpx.Client) -> None:
    assert client.get("/v1/state").status_code == 200
    narrow = served.client("eros", prefix="notes/")
    assert narrow.get("/v1/state").status_code == 403
    assert narrow.get("/v1/state/20").status_code == 403
    assert narrow.put("/v1/state/21_x.md", json={"content": OTHER}).status_code == 403
    writer = served.client("eros", ("write",))
    for reply in (
        writer.put("/v1/state/20", json={"content": OTHER}),
        writer.put("/v1/memory", params={"key": KEY}, json={"content": OTHER}),
    ):
        assert refused(reply)
        assert "sha256" not in reply.text, "nobody guesses a short text from its digest"
    assert "sha256" in client.put("/v1/state/20", json={"content": OTHER}).text
    reader = served.client("eros", ("read",))
    assert reader.get("/v1/state/20").status_code == 200
    assert reader.put("/v1/state/21_x.md", json={"content": OTHER}).status_code == 403


# A client that signs for itself.


@pytest.fixture
def laptop(served: Served, tmp_path: Path) -> Iterator[Memory]:
    """The agent's own machine, with its key, and the five files written from there."""
    (tmp_path / "laptop").mkdir()
    here = settings.load(tmp_path / "laptop", home_of(tmp_path / "laptop"), store=served.url, agent="eros")
    keystore(here).trust(OWNER.name, OWNER.vkey)
    store = RemoteStore(here.store, "eros", served.key("eros"))
    memory = open_memory(here, store=store)
    store.vkey = lambda: memory.signer.vkey
    state = StateDirectory(memory, None)
    for name, content in STATE_OK.items():
        state.write(name, content)
    yield memory
    memory.close()


def sign_in_the_owners_place(memory: Memory) -> None:
    memory.save(KEY, OTHER.encode())
    wish = Decision("amended", "amend", KEY, memory.signer, "human", None, "mine", None, None, "op-mine")
    memory._do("op-mine", lambda: memory._decide(wish), KEY)


MODIFIED: dict[str, Callable[[Memory], object]] = {
    "another text": lambda memory: memory.save(KEY, OTHER.encode()),
    "forced": lambda memory: memory.save(KEY, OTHER.encode(), how="forced"),
    "restored": lambda memory: memory.save(KEY, OTHER.encode(), how="restored"),
    "a record that does not continue": lambda memory: memory.save("state/30_critic_summary.md", b"## Round 9\n"),
    "archived": lambda memory: memory.archive(KEY),
    "a law archived": lambda memory: memory.archive("state/00_governance.md"),
    "erased": lambda memory: memory.erase(KEY),
    "a second slot": lambda memory: memory.save("state/20_b.md", OTHER.encode()),
    "closed without a record": lambda memory: memory.note("archived", KEY, digest="00" * 32),
    "amended by the agent": sign_in_the_owners_place,
}  # fmt: skip


@pytest.mark.parametrize("what", MODIFIED)
def test_the_server_refuses_what_a_modified_client_signed(
    served: Served, laptop: Memory, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    size = laptop.checkpoint()
    with monkeypatch.context() as patch:
        lift_the_disciplines(patch)
        with pytest.raises(DisciplineError):
            MODIFIED[what](laptop)
    assert laptop.checkpoint() == size, "not one entry more"
    assert attempts(served.client("eros"))
    assert StateDirectory(laptop, None).check().findings == ()


def test_an_amendment_is_taken_from_an_owner_whom_the_server_knows(served: Served, laptop: Memory) -> None:
    state = StateDirectory(laptop, None)
    with pytest.raises((DisciplineError, AccessDenied)):
        state.amend("20", OTHER.encode(), by=OWNER, reason="test")
    keystore(served.settings).trust(OWNER.name, OWNER.vkey)
    served.again()
    state.amend("20", OTHER.encode(), by=OWNER, reason="test")
    assert state.check().findings == ()
    assert served.client("eros").get("/v1/state").status_code == 200


def test_a_closing_is_taken_whole(served: Served, laptop: Memory) -> None:
    state = StateDirectory(laptop, None)
    closed = state.close(reason="done")
    assert len(closed.names) == 4
    document = served.client("eros").get("/v1/state").json()
    assert ([row["name"] for row in document["slots"]], document["closed"]) == (
        ["00_governance.md"],
        [closed.saved.key],
    )
    assert state.check().findings == ()


# The command line with a store at a server: the client seals, the files are its own.


def test_every_verb_works_with_a_store_at_a_server(served: Served, tmp_path: Path) -> None:
    root = tmp_path / "client"
    (root / "work").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root / "work")], check=True)
    env = {
        **home_of(root),
        "INDELIBLE_STORE": served.url,
        "INDELIBLE_AGENT": "eros",
        "INDELIBLE_API_KEY": served.key("eros"),
    }
    folder = root / "work" / ".indelible" / "state"

    def run(*words: str, content: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*indelible_command(), "state", *words],
            cwd=root / "work",
            env=env,
            input=content,
            capture_output=True,
            check=False,
            **more,
        )

    assert run("init").returncode == 0
    for name, content in list(STATE_OK.items())[1:]:
        assert run("write", name, content=content).returncode == 0
    assert run("append", "30", content=b"## Round 3\n").returncode == 0
    assert run("check").returncode == 0
    assert run("write", "20", content=OTHER.encode()).returncode == 6
    (folder / PLAN).unlink()
    (folder / PLAN).write_bytes(OTHER.encode())
    assert run("check").returncode == 2
    assert run("repair").returncode == 0
    assert (folder / PLAN).read_bytes() == STATE_OK[PLAN]
    assert run("history", "30").stdout.count(b"saved") == 2
    assert run("close").returncode == 0
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["00_governance.md"]
    assert run("check").returncode == 0
