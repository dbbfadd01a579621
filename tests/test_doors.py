"""The doors and the gate: whatever hands content out hands out only what applies; the rest is listed with what it judges instead.

One server with one log, and in it one memory for each reason to hold a memory back. Every door is asked for every one of them:
on the server's own machine (library, command line), over HTTP, and from another machine that verifies and judges for itself.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import indelible_command
from tests.serving import Served, home_of
from tests.support import signer_of

from indelible import settings
from indelible.errors import HeldError, IndelibleError
from indelible.keeping import StateDirectory
from indelible.memory import Held
from indelible.record import draft
from indelible.record.parts import Anchor, Link, Origin, Scope, Trust, Validity
from indelible.server.routes import OPERATIONS
from indelible.store.remote import RemoteStore
from indelible.wiring import keystore, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

    from indelible.memory import Memory
    from indelible.record import Record

AGENT = "eros"
ANN = signer_of("indelible-reviewer/ann")
PAST = "2020-01-01T00:00:00Z"
FINE = "fine"
LIFECYCLE: dict[str, Any] = {
    "archived": {}, "superseded": {}, "expired": {"validity": Validity(expires_at=PAST)},
}  # fmt: skip
"""What the seeds' wire form holds too."""
HELD: dict[str, Any] = {
    **LIFECYCLE, "rejected": {}, "disputed": {},
    "over": {"validity": Validity(valid_until=PAST)},
    "not-yet": {"validity": Validity(valid_from="2999-01-01T00:00:00Z")},
    "overdue": {"validity": Validity(review_by=PAST)},
    "anchored": {"validity": Validity(anchors=(Anchor("file-digest", "sha256:" + "0" * 64, path="a.py"),))},
    "elsewhere": {"scope": Scope("repo", repo="github.com/other/app")},
    "another-agents": {"scope": Scope("agent", agent="rudex")},
    "global": {"scope": Scope("global")},
    "from-a-tool": {"origin": Origin(class_="tool")},
    "from-outside": {"origin": Origin(class_="external")},
    "rule": {"trust": Trust("claimed", "instruction")},
    "not-understood": {"crit": ("org.example/other",)},
    "stands-on-held": {"links": (Link("depends_on", "urn:uuid:x", "key:rule"),)},
    "stands-on-nothing": {"links": (Link("depends_on", "urn:uuid:x", "key:none"),)},
}  # fmt: skip
"""Key, and what its record says: every one is genuine, and none applies."""
ALL = (FINE, *HELD)


def text_of(key: str) -> str:
    """Content in which every key is found by one word, and which no other key has."""
    return f"narwhal notes, item {ALL.index(key):02}."


@dataclass
class World:
    """The server, its operator's machine, and another machine with a home of its own."""

    served: Served
    laptop: Path
    client: httpx.Client
    api_key: str
    attested: httpx.Client
    """Of another agent, whose log the server signs: the laptop trusts no server's key."""

    def local(self) -> Memory:
        return self.served.memory(AGENT)

    def remote(self) -> Memory:
        here = settings.load(self.laptop, home_of(self.laptop), store=self.served.url, agent=AGENT)
        store = RemoteStore(here.store, AGENT, self.api_key)
        memory = open_memory(here, store=store)
        store.vkey = lambda: memory.signer.vkey
        return memory

    def run(
        self, *words: str, remote: bool = False, env: dict[str, str] | None = None, text: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        """The command line, on either machine."""
        there = {**home_of(self.laptop), "INDELIBLE_STORE": self.served.url, "INDELIBLE_API_KEY": self.api_key}
        environment = {**(there if remote else self.served.environment), "INDELIBLE_AGENT": AGENT, **(env or {})}
        return subprocess.run(
            [*indelible_command(), *words], input=text.encode(), env=environment, cwd=self.laptop, capture_output=True, check=False,
            timeout=60,
        )  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    root = tmp_path_factory.mktemp("doors")
    served = Served(root / "server", {}).start()
    (root / "laptop").mkdir()
    made = World(served, root / "laptop", served.client(AGENT), served.key(AGENT), served.client("rudex"))
    for here in (served.settings, settings.load(made.laptop, home_of(made.laptop))):
        keystore(here).trust(ANN.name, ANN.vkey)
    with made.remote() as memory:
        fill(memory)
    yield made
    served.stop()


def fill(memory: Memory) -> None:
    """One memory of each kind, signed by the agent."""
    for key in ALL:
        memory.save(key, text_of(key).encode(), record=record_of(memory, key, HELD.get(key, {})))
    memory.archive("archived")
    memory.review("rejected", "reject", by=ANN)
    memory.review("disputed", "dispute", by=ANN)
    old = Link("supersedes", memory.fetch("superseded").record.id, "key:superseded")
    memory.save("newer", b"else", record=record_of(memory, "newer", {"links": (old,), "origin": Origin(class_="tool")}))
    memory.supersede("superseded", "newer")


def record_of(memory: Memory, key: str, changes: dict[str, Any]) -> Callable[[Record | None], Record]:
    """Makes a first record with `changes` in it."""
    content = text_of(key).encode() if key in ALL else b"else"
    salt = key.encode().ljust(10, b"_")[:10]
    plain = draft(key, content, agent=AGENT, author="agent:x", now=memory.now(), random=salt)
    return lambda _: replace(plain, **changes)


def library_load(world: World, key: str, *, remote: bool = False) -> bytes:
    with world.remote() if remote else world.local() as memory:
        try:
            return memory.load(key).content
        except HeldError:
            return b""


def library_deliver(world: World, key: str) -> bytes:
    with world.local() as memory:
        found = memory.deliver(key)
        return b"" if isinstance(found, Held) else found.content


def library_recall(world: World, key: str, *, remote: bool = False) -> bytes:
    with world.remote() if remote else world.local() as memory:
        found = memory.recall(text_of(key), limit=50)
        asked = {one.key for one in found.delivered} | {one.key for one in found.held}
        assert asked >= {key, FINE} - {"archived", "superseded"}
        return b"\n".join(one.content for one in found.delivered)


def command_load(world: World, key: str, *, remote: bool = False) -> bytes:
    ran = world.run("load", key, remote=remote)
    assert ran.returncode in (0, 4), ran.stderr
    return ran.stdout


def command_recall(world: World, key: str, *, remote: bool = False) -> bytes:
    ran = world.run("recall", "--limit", "50", *text_of(key).split(), remote=remote)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def http_memory(world: World, key: str) -> bytes:
    reply = world.client.get("/v1/memory", params={"key": key})
    assert reply.status_code in (200, 423), reply.text
    return reply.content


def http_recall(world: World, key: str) -> bytes:
    reply = world.client.post("/v1/recall", json={"query": text_of(key), "limit": 50})
    assert reply.status_code == 200, reply.text
    return reply.content


GATED: dict[str, Callable[[World, str], bytes]] = {
    "library: load": library_load,
    "library: deliver": library_deliver,
    "library: recall": library_recall,
    "command line: load": command_load,
    "command line: recall": command_recall,
    "HTTP: GET /v1/memory": http_memory,
    "HTTP: POST /v1/recall": http_recall,
    "remote store: load": lambda world, key: library_load(world, key, remote=True),
    "remote store: recall": lambda world, key: library_recall(world, key, remote=True),
    "remote store: command line, load": lambda world, key: command_load(world, key, remote=True),
    "remote store: command line, recall": lambda world, key: command_recall(world, key, remote=True),
}
"""Every door through which content comes out. The whole gate stands behind each."""


@pytest.mark.parametrize("door", GATED)
def test_a_door_hands_over_what_applies_and_nothing_that_is_held(world: World, door: str) -> None:
    given = {key: GATED[door](world, key) for key in ALL}
    assert text_of(FINE).encode() in given[FINE]
    assert [(key, held) for key, text in given.items() for held in HELD if text_of(held).encode() in text] == []


# What is no gated door, and what it judges instead.


def verify(world: World, key: str) -> bool:
    return world.run("verify", key).returncode == 0


def history(world: World, key: str) -> bool:
    return (
        world.run("history", key).returncode == 0
        and world.client.get("/v1/history", params={"key": key}).status_code == 200
    )


def diff(world: World, key: str) -> bool:
    file = world.laptop / "copy"
    file.write_bytes(text_of(key).encode())
    return world.run("diff", key, str(file)).returncode == 0


def proof(world: World, key: str) -> bool:
    return world.client.get("/v1/proof", params={"key": key}).status_code == 200


def listing(world: World, key: str) -> bool:
    query = {"state": "active,archived,superseded"}
    return key in [row["key"] for row in world.client.get("/v1/memories", params=query).json()["memories"]]


def fetch(world: World, key: str) -> bool:
    with world.local() as memory:
        return memory.fetch(key).verdict is None


def sealed(world: World, key: str) -> bool:
    rows = world.client.get("/v1/sealed", params={"seq": "0", "count": "256"}).json()["rows"]
    return text_of(key).encode() in [base64.b64decode(row["content"]) for row in rows]


def plain_load(world: World, key: str) -> bool:
    one = [row["key_name"] for row in world.client.get("/memory/load", params={"key": key}).json()["memories"]]
    everything = [row["key_name"] for row in world.client.get("/memory/load").json()["memories"]]
    assert (key in one) == (key in everything)
    return key in one


INTEGRITY: tuple[str, ...] = ()
INSTEAD: dict[str, tuple[Callable[[World, str], bool], tuple[str, ...]]] = {
    "command line: verify": (verify, INTEGRITY),
    "command line and HTTP: history": (history, INTEGRITY),
    "command line: diff": (diff, INTEGRITY),
    "HTTP: GET /v1/proof": (proof, INTEGRITY),
    "HTTP: GET /v1/memories": (listing, INTEGRITY),
    "library: fetch": (fetch, INTEGRITY),
    "HTTP: GET /v1/sealed": (sealed, INTEGRITY),  # what a client verifies and judges for itself
    "HTTP: GET /memory/load": (plain_load, tuple(LIFECYCLE)),  # the seeds' form: integrity, lifecycle and expiry
}
"""Door, how it is asked whether it gives what there is, and which of the held memories it holds too."""


@pytest.mark.parametrize("door", INSTEAD)
def test_a_door_that_judges_something_else_judges_just_that(world: World, door: str) -> None:
    gives, holds = INSTEAD[door]
    assert {key for key in ALL if not gives(world, key)} == set(holds)


def test_every_path_of_the_server_is_a_gated_door_or_is_listed_with_what_it_judges() -> None:
    named = {words for door in (*GATED, *INSTEAD) for words in door.split() if words.startswith("/")} | {"/v1/history"}
    without_content = {
        "/memory/save", "/v1/archive", "/v1/unarchive", "/v1/restore", "/v1/checkpoint", "/v1/consistency", "/v1/head", "/v1/entries",
        "/v1/operation", "/v1/tile/{level}/{n}", "/v1/keys", "/v1/commit", "/v1/audit", "/v1/verdict", "/v1/held", "/v1/deliveries",
        "/v1/delivery", "/v1/reviews", "/v1/review", "/v1/identify",
    }  # fmt: skip
    of_approvals = {"/v1/receipt"}  # takes in what an approver signed, and gives nothing out
    of_slots = {"/v1/state", "/v1/state/{name}"}  # laws and records, which apply wherever they are: see below
    assert {operation.path for operation in OPERATIONS} - named == without_content | of_approvals | of_slots


@pytest.mark.parametrize(
    "path",
    [
        "/v1/verdict?key={}",
        "/v1/held?state=active,archived,superseded",
        "/v1/reviews?key={}",
        "/v1/deliveries?limit=1000",
        "/v1/history?key={}",
    ],
)
def test_what_speaks_of_memories_hands_none_out(world: World, path: str) -> None:
    for key in ALL:
        http_memory(world, key)
        assert "narwhal" not in world.client.get(path.format(key)).text


def test_every_door_says_why_in_the_same_words(world: World) -> None:
    held = {one["key"]: one["verdict"]["reasons"] for one in world.client.get("/v1/held").json()["held"]}
    assert set(held) == {*HELD, "newer"}
    for key in HELD:
        assert world.client.get("/v1/memory", params={"key": key}).json()["reasons"] == held[key]
    for key in set(HELD) - {"anchored"}:  # what files there are is each machine's own
        slugs = [reason["slug"] for reason in held[key]]
        told = json.loads(world.run("--json", "load", key).stdout)
        assert (told["exit_code"], told["slug"], [why["slug"] for why in told["reasons"]]) == (4, "held", slugs), key
        with world.remote() as memory:
            assert list(memory.judge(key).verdict.slugs) == slugs


def test_every_door_says_the_same_of_a_copy_and_hands_nothing_out(world: World) -> None:
    damaged = text_of("rule").replace("narwhal", "nurwhal").encode() + b" ?!"
    with world.remote() as memory, world.local() as here:
        told = [
            (one.certainty.value, one.originals[0].key) for one in (memory.identify(damaged), here.identify(damaged))
        ]
    reply = world.client.post("/v1/identify", json={"content": damaged.decode()})
    assert "narwhal" not in reply.text
    told.append((reply.json()["certainty"], reply.json()["originals"][0]["key"]))
    copy = world.laptop / "copy"
    copy.write_bytes(damaged)
    for remote in (False, True):
        ran = json.loads(world.run("--json", "recall", "--like", str(copy), remote=remote).stdout)
        told.append((ran["certainty"], ran["originals"][0]["key"]))
    assert len(set(told)) == 1, told


# Slots of a state directory: the same verbs through every door, and the same refusals.

CODES = {409: "6", 404: "3", 400: "64"}
"""What the statuses of `/v1/state` come to as exit codes."""


@dataclass
class Door:
    """One door by which slots are read and written, each verb with what it comes to: text, or an exit code."""

    name: str
    remote: bool = False

    def ask(self, world: World, job: Callable[[StateDirectory], str]) -> str:
        """Through the library, without files: of a store beside it, or of a server's."""
        with world.remote() if self.remote else open_memory(self.own(world), create=True) as memory:
            try:
                return job(StateDirectory(memory, None))
            except IndelibleError as error:
                return str(error.exit_code)

    def own(self, world: World) -> settings.Settings:
        """A store of this door's own: the server's log is the laptop's to sign, and nobody else's."""
        folder = world.laptop / self.name
        folder.mkdir(exist_ok=True)
        return settings.load(folder, home_of(folder), store=str(folder / "store" / "store.db"), agent=AGENT)

    def tell(self, world: World, *words: str, text: str = "") -> str:
        """Through the command line, with files of the door's own."""
        env = {"INDELIBLE_STATE_DIR": str(world.laptop / self.name / "state")}
        if not self.remote:
            own = self.own(world)
            env |= {**home_of(world.laptop / self.name), "INDELIBLE_STORE": own.store}
            assert world.run("init", env=env).returncode == 0
        ran = world.run("state", *words, remote=self.remote, env=env, text=text)
        return ran.stdout.decode() if ran.returncode == 0 else str(ran.returncode)

    def write(self, world: World, slot: str, text: str) -> str:
        if self.name.startswith("command"):
            return self.tell(world, "write", slot, text=text)
        if self.name == "http":
            return status_of(world.attested.put(f"/v1/state/{slot}", json={"content": text}))
        return self.ask(world, lambda state: state.write(slot, text.encode()).sha256)

    def append(self, world: World, slot: str, text: str) -> str:
        if self.name.startswith("command"):
            return self.tell(world, "append", slot, text=text)
        if self.name == "http":
            return status_of(world.attested.post(f"/v1/state/{slot}", json={"content": text}))
        return self.ask(world, lambda state: state.append(slot, text.encode()).sha256)

    def show(self, world: World, slot: str) -> str:
        if self.name.startswith("command"):
            return self.tell(world, "show", slot)
        if self.name == "http":
            reply = world.attested.get(f"/v1/state/{slot}")
            return str(reply.json().get("content", CODES.get(reply.status_code)))
        return self.ask(world, lambda state: state.show(slot).content.decode())

    def history(self, world: World, slot: str) -> int:
        """How many entries there are."""
        if self.name.startswith("command"):
            return len(self.tell(world, "history", slot).splitlines())
        if self.name == "http":
            return len(world.attested.get("/v1/history", params={"key": f"state/{slot}"}).json()["events"])
        return int(self.ask(world, lambda state: str(len(state.history(slot)))))

    def names(self, world: World) -> str:
        """The slots that are listed."""
        if self.name.startswith("command"):
            return self.tell(world, "list")
        if self.name == "http":
            return world.attested.get("/v1/state").text
        return self.ask(world, lambda state: " ".join(one.slot.name for one in state.slots()))


def status_of(reply: httpx.Response) -> str:
    return CODES[reply.status_code] if reply.status_code != 200 else str(reply.json()["sha256"])


DOORS = [
    Door("library"),
    Door("library-remote", remote=True),
    Door("http"),
    Door("command"),
    Door("command-remote", remote=True),
]


@pytest.mark.parametrize(("number", "door"), list(enumerate(DOORS, 11)), ids=[door.name for door in DOORS])
def test_every_door_writes_slots_by_the_same_rules(world: World, number: int, door: Door) -> None:
    law, record, pointer = f"{number}_law.md", f"{number + 30}_record.md", f"{number + 79}_next.md"
    for slot in (law, record, pointer):
        assert door.write(world, slot, f"first of {slot}\n") not in CODES.values()
        assert door.show(world, slot) == f"first of {slot}\n"
        assert slot in door.names(world)
    assert door.write(world, law, "other\n") == "6"
    assert door.append(world, law, "more\n") == "6"
    assert door.write(world, record, "other\n") == "6"
    assert door.append(world, record, "second\n") not in ("6", "64")
    assert door.write(world, pointer, "other\n") not in ("6", "64")
    assert [door.show(world, slot) for slot in (law, record, pointer)] == [
        f"first of {law}\n", f"first of {record}\nsecond\n", "other\n",
    ]  # fmt: skip
    assert [door.history(world, slot) for slot in (law, record, pointer)] == [1, 2, 2]
    assert door.write(world, f"{number}_second.md", "beside it\n") == "6"
    assert door.show(world, f"{number}_second.md") == "3"
