"""The store behind a server: the client's own follower judges all that it says, and a write is saved, not saved or unknown."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.conftest import indelible_command
from tests.serving import Served, home_of, rows, save
from tests.support import signer_of

from indelible import settings
from indelible.deliveries import Journal
from indelible.errors import (
    AccessDenied,
    ConflictError,
    DigestMismatch,
    HeldError,
    IntegrityError,
    Missing,
    NotFoundError,
    NotSaved,
    OutcomeUnknown,
    RolledBack,
    Unchecked,
    Unreachable,
    UsageError,
)
from indelible.gate.context import Context
from indelible.gate.place import GivenPlace
from indelible.gate.verdict import Reason
from indelible.memory.gating import Gate
from indelible.record import draft
from indelible.record.parts import Anchor, Origin, Validity
from indelible.store import remote
from indelible.store.remote import RemoteStore, detect
from indelible.wiring import keystore, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from indelible.memory import Memory


AGENTS = count()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"), {}).start()
    yield made
    made.stop()


@dataclass
class Machine:
    """A computer of its own, with a home, keys and pins."""

    home: Path
    served: Served
    agent: str

    def memory(
        self,
        transport: httpx.BaseTransport | None = None,
        key: str | None = None,
        url: str | None = None,
        gate: Gate | None = None,
    ) -> Memory:
        here = settings.load(self.home, home_of(self.home), store=url or self.served.url, agent=self.agent)
        store = RemoteStore(here.store, self.agent, key or self.served.key(self.agent), transport=transport)
        memory = open_memory(here, store=store, gate=gate)
        store.vkey = lambda: memory.signer.vkey
        return memory

    def trust_server(self) -> None:
        """Take the server's key for one that may attest."""
        here = settings.load(self.home, home_of(self.home))
        with RemoteStore(self.served.url, self.agent, self.served.key(self.agent)) as store:
            for vkey in store.server_keys():
                keystore(here).trust(vkey.split("+", 1)[0], vkey)


@pytest.fixture
def machine(served: Served, tmp_path: Path) -> Machine:
    """A machine of an agent of the test's own."""
    (tmp_path / "laptop").mkdir()
    return Machine(tmp_path / "laptop", served, f"agent-{next(AGENTS)}")


@contextmanager
def meddled(change: Callable[[httpx.Request, httpx.Response], httpx.Response]) -> Iterator[httpx.BaseTransport]:
    """The network, with somebody in it who changes replies."""
    inner = httpx.HTTPTransport()

    def handle(request: httpx.Request) -> httpx.Response:
        request.read()
        reply = inner.handle_request(request)
        reply.read()
        return change(request, reply)

    try:
        yield httpx.MockTransport(handle)
    finally:
        inner.close()


def test_what_is_saved_there_is_loaded_verified_and_signed_by_the_agent(machine: Machine) -> None:
    with machine.memory() as memory:
        saved = memory.save("MEMORY.md", "안녕\r\n".encode())
        memory.save("MEMORY.md", b"\xff\0second")
        loaded = memory.load("MEMORY.md")
        assert (saved.version, loaded.version, loaded.content, loaded.attested) == (1, 2, b"\xff\0second", "agent")
        assert memory.load("MEMORY.md", 1).content == "안녕\r\n".encode()
        assert memory.verify("MEMORY.md", b"\xff\0second").local == "same"
        assert (memory.store.agents(), memory.store.place) == ((machine.agent,), machine.served.url)


def test_every_verb_works_there_as_on_a_file(machine: Machine) -> None:
    with machine.memory() as memory:
        for key in ("a", "b", "e"):
            memory.save(key, key.encode())
        memory.archive("b", reason="done")
        with pytest.raises(HeldError):
            memory.load("b")
        memory.unarchive("b")
        memory.erase("e", reason="asked for")
        with pytest.raises(NotFoundError):
            memory.load("e")
        memory.save("a", b"two")
        memory.restore("a", 1)
        assert [(version.type, version.how) for version in memory.history("a")] == [
            ("saved", "restored"),
            ("saved", "saved"),
            ("saved", "saved"),
        ]
        listing = memory.list()
        assert ([item.key for item in listing.items], listing.total, listing.findings) == (["a", "b"], 2, ())
        _, proof = memory.proof("a")
        assert proof.checkpoint_note == memory.checkpoint()
        with pytest.raises(ConflictError):
            memory.save("a", b"x", based_on="0" * 64)
        with pytest.raises(NotFoundError):
            memory.load("none")


class Folder:
    """A world of plain files: what anchors of the type `file-digest` are held against."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def prepare(self, anchors: object) -> None:
        pass

    def check(self, anchors: tuple[Anchor, ...]) -> tuple[Reason, ...]:
        return tuple(Reason("anchor-changed", f"{one.path}") for one in anchors if self._digest(one) != one.value)

    def digest(self, anchors: tuple[Anchor, ...]) -> str:
        return sha256("".join(map(self._digest, anchors)).encode()).hexdigest()

    def _digest(self, anchor: Anchor) -> str:
        return "sha256:" + sha256((self.top / str(anchor.path)).read_bytes()).hexdigest()


def test_a_memory_is_judged_on_the_machine_that_has_the_files(machine: Machine, tmp_path: Path) -> None:
    """The server has none, and holds it; the client follows, verifies and judges with its own, and keeps its own deliveries."""
    file = tmp_path / "setup.py"
    file.write_bytes(b"as it was")
    anchor = Anchor("file-digest", "sha256:" + sha256(b"as it was").hexdigest(), path="setup.py")
    journal = Journal(str(tmp_path / "deliveries.db"))
    gate = Gate(
        context=lambda agent, now: Context(reader=agent, now=now, place=GivenPlace(), world=Folder(tmp_path)),
        journal=journal,
    )
    client = machine.served.client(machine.agent)
    with machine.memory(gate=gate) as memory:
        plain = draft("k", b"text", agent=machine.agent, author="human:x", now=memory.now(), random=b"0123456789")
        memory.save("k", b"text", record=lambda _: replace(plain, validity=Validity(anchors=(anchor,))))
        assert memory.load("k").content == b"text"
        held = client.get("/v1/memory?key=k")
        assert (held.status_code, [reason["slug"] for reason in held.json()["reasons"]]) == (423, ["anchor-unknown"])
        told = client.get("/v1/deliveries").json()["deliveries"]
        file.write_bytes(b"changed")
        with pytest.raises(HeldError) as caught:
            memory.load("k")
        assert [reason["slug"] for reason in caught.value.facts["reasons"]] == ["anchor-changed"]  # type: ignore[attr-defined]
        assert (memory.recall("text").delivered, memory.verify("k").loaded.content) == ((), b"text")
        file.write_bytes(b"as it was")
        assert memory.load("k").content == b"text"
        assert [one.outcome for one in journal.read()] == ["delivered", "held", "held", "delivered"]
    assert client.get("/v1/deliveries").json()["deliveries"] == told, "what a client reads to verify is judged there"


def test_so_it_is_at_the_command_line(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "setup.py"
    env = {
        **home_of(machine.home),
        "INDELIBLE_AGENT": machine.agent,
        "INDELIBLE_API_KEY": machine.served.key(machine.agent),
    }

    def indelible(*words: str, text: bytes = b"") -> tuple[int, bytes]:
        command = [*indelible_command(), "--store", machine.served.url, *words]
        ran = subprocess.run(command, env=env, cwd=tmp_path, input=text, capture_output=True, check=False, timeout=60)
        return ran.returncode, ran.stdout

    file.write_bytes(b"as it was")
    assert indelible("save", "k", "-", "--anchor", "setup.py", text=b"text")[0] == 0
    assert indelible("load", "k") == (0, b"text")
    file.write_bytes(b"changed")
    assert indelible("load", "k") == (4, b"")
    assert indelible("recall", "text")[0] == 4
    assert indelible("verify", "k")[0] == 0
    file.write_bytes(b"as it was")
    assert indelible("load", "k") == (0, b"text")


# Reviews from a machine that does not hold the agent's key


ANN = signer_of("indelible-reviewer/ann")


@pytest.fixture
def reviewer(machine: Machine, tmp_path: Path) -> Machine:
    """Ann's machine, which holds no key of the agent's; the agent's has one memory from outside. All know Ann, and trust the server."""
    (tmp_path / "anns").mkdir()
    anns = Machine(tmp_path / "anns", machine.served, machine.agent)
    with machine.memory() as memory:
        plain = draft("k", b"text", agent=machine.agent, author="human:x", now=memory.now(), random=b"0123456789")
        memory.save("k", b"text", record=lambda _: replace(plain, origin=Origin(class_="external")))
        agents = memory.signer
    keystore(settings.load(anns.home, home_of(anns.home))).trust(agents.name, agents.vkey)
    for home in (machine.home, anns.home):
        keystore(settings.load(home, home_of(home))).trust(ANN.name, ANN.vkey)
    keystore(machine.served.settings).trust(ANN.name, ANN.vkey)
    machine.trust_server()
    anns.trust_server()
    return anns


def may(machine: Machine, *verbs: str) -> str:
    return machine.served.key(machine.agent, verbs)


def test_a_reviewer_reviews_without_the_agents_key(machine: Machine, reviewer: Machine) -> None:
    with reviewer.memory(key=may(reviewer, "read", "review")) as desk:
        assert desk.judge("k").verdict.slugs == ("origin-unreviewed",)
        done = desk.review("k", "approve", by=ANN, reason="read it", of=desk.fetch("k").sha256, op="once")
        assert (done.version, done.seq, done.repeated) == (1, 1, False)
        assert desk.review("k", "approve", by=ANN, op="once").repeated
        assert desk.load("k").content == b"text"
        assert not keystore(settings.load(reviewer.home, home_of(reviewer.home))).holds(desk.origin)
    with machine.memory() as memory:
        verdict = memory.deliver("k").verdict
        assert verdict is not None
        assert (verdict.held, verdict.review, verdict.reviewer) == (False, "approved", "ann")
        memory.save("k", b"the agent goes on")
        assert [one.type for one in memory.history("k")] == ["saved", "reviewed", "saved"]


def test_a_key_that_may_only_write_hands_in_no_review(reviewer: Machine) -> None:
    for verbs in (("read", "write"), ("read",)):
        with reviewer.memory(key=may(reviewer, *verbs)) as desk:
            with pytest.raises(AccessDenied):
                desk.review("k", "approve", by=ANN)
            assert [one.type for one in desk.history("k")] == ["saved"]


def test_a_reviewer_whom_the_server_does_not_know_is_told_so(reviewer: Machine) -> None:
    bob = signer_of("indelible-reviewer/bob")
    with reviewer.memory(key=may(reviewer, "read", "review")) as desk:
        with pytest.raises(AccessDenied) as caught:
            desk.review("k", "approve", by=bob)
        assert (caught.value.slug, "key trust" in caught.value.remedy) == ("unknown-reviewer", True)


def test_what_was_looked_at_is_what_is_reviewed(machine: Machine, reviewer: Machine) -> None:
    with reviewer.memory(key=may(reviewer, "read", "review")) as desk, machine.memory() as memory:
        seen = desk.fetch("k").sha256
        memory.save("k", b"other text")
        with pytest.raises(ConflictError):
            desk.review("k", "approve", by=ANN, of=seen)
        assert desk.review("k", "reject", by=ANN).version == 2


def test_a_review_is_signed_again_where_another_writer_was_first(machine: Machine, reviewer: Machine) -> None:
    with machine.memory() as memory:
        waiting = ["one", "two"]

        def race(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
            if request.url.path == "/v1/head" and waiting and reply.status_code == 200 and desk_open:
                memory.save(waiting.pop(), b"in between")
            return reply

        desk_open: list[int] = []
        with meddled(race) as network, reviewer.memory(network, may(reviewer, "read", "review")) as desk:
            desk_open.append(1)
            assert desk.review("k", "approve", by=ANN).seq == 3
        assert [one.type for one in memory.history("k")] == ["reviewed", "saved"]


def test_a_review_whose_answer_is_lost_is_sent_again_and_is_one(reviewer: Machine) -> None:
    lost: list[int] = []

    def lose(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        if request.url.path == "/v1/review" and not lost:
            lost.append(reply.status_code)
            raise httpx.RemoteProtocolError("gone")
        return reply

    with meddled(lose) as network, reviewer.memory(network, may(reviewer, "read", "review")) as desk:
        assert desk.review("k", "approve", by=ANN).seq == 1
        assert (lost, [one.type for one in desk.history("k")]) == ([200], ["reviewed", "saved"])


def test_a_server_that_says_that_it_took_a_review_and_did_not_is_not_believed(reviewer: Machine) -> None:
    def lie(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        if request.url.path == "/v1/review":
            return httpx.Response(200, json={"op": "once"})
        return reply

    with (
        meddled(lie) as network,
        reviewer.memory(network, may(reviewer, "read")) as desk,
        pytest.raises(OutcomeUnknown),
    ):
        desk.review("k", "approve", by=ANN, op="once")


def test_without_trust_in_the_server_nothing_is_sent(machine: Machine, reviewer: Machine, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    fresh = Machine(tmp_path / "new", machine.served, machine.agent)
    with machine.memory() as memory:
        agents = memory.signer
    keystore(settings.load(fresh.home, home_of(fresh.home))).trust(agents.name, agents.vkey)
    with fresh.memory(key=may(fresh, "read", "review")) as desk:
        with pytest.raises(Unchecked) as caught:
            desk.review("k", "approve", by=ANN)
        assert "key trust indelible-server/" in caught.value.remedy
        assert [one.type for one in desk.history("k")] == ["saved"]


def test_a_long_log_is_followed_from_nothing_and_proved_from_tiles(machine: Machine, tmp_path: Path) -> None:
    long = 300
    with machine.memory() as memory:
        for number in range(long):
            memory.save(f"k{number:04}", b"x" * 50)
    (tmp_path / "desktop").mkdir()
    other = Machine(tmp_path / "desktop", machine.served, machine.agent)
    here, there = (keystore(settings.load(each.home, home_of(each.home))) for each in (machine, other))
    origin = f"indelible/local/{machine.agent}"
    there.trust(origin, here.signer(origin).vkey)
    begun = time.monotonic()
    with other.memory() as memory:
        assert len(memory.list().items) == long
        _, proof = memory.proof("k0007")
        assert proof.index == 7
        memory.load("k0007")
    assert time.monotonic() - begun < 20


def test_an_operation_that_is_repeated_makes_one_version(machine: Machine) -> None:
    with machine.memory() as memory:
        first, again = (memory.save("k", b"x", op="op-1") for _ in range(2))
        assert (first.repeated, again.repeated, again.version, len(memory.history("k"))) == (False, True, 1, 1)
        with pytest.raises(ConflictError):
            memory.save("k", b"other", op="op-1")


def test_two_writers_of_one_log_take_turns(machine: Machine) -> None:
    with machine.memory() as first:
        first.save("begin", b"x")

    def work(number: int) -> None:
        with machine.memory(key=key) as memory:
            for turn in range(10):
                memory.save(f"{number}-{turn}", b"x")

    key = machine.served.key(machine.agent)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))
    with machine.memory() as memory:
        assert len(memory.list().items) == 21


def test_two_machines_of_one_log_follow_and_sign_again(machine: Machine, tmp_path: Path) -> None:
    from indelible.memory.governing import set_pin

    with machine.memory() as first:
        first.save("begin", b"x")
        signer = first.signer
        other_home = tmp_path / "desktop"
        other_home.mkdir()
        other = Machine(other_home, machine.served, machine.agent)
        there = keystore(settings.load(other_home, home_of(other_home)))
        there.recover(
            keystore(settings.load(machine.home, home_of(machine.home))).backup([signer.name], "a long passphrase"),
            "a long passphrase",
        )
        with other.memory() as second:
            set_pin(second, None)
            done: list[str] = []

            def work(memory: Memory, name: str) -> None:
                for turn in range(10):
                    memory.save(f"{name}-{turn}", b"x")
                    done.append(name)

            threads = [threading.Thread(target=work, args=pair) for pair in ((first, "first"), (second, "second"))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert (len(done), len(first.list().items), len(second.list().items)) == (20, 21, 21)


def test_a_log_that_the_server_attests_is_followed_by_whoever_trusts_it(machine: Machine) -> None:
    client = machine.served.client(machine.agent)
    save(client, "k", "plain")
    with machine.memory() as memory, pytest.raises(Unchecked):
        memory.load("k")
    machine.trust_server()
    with machine.memory() as memory:
        assert (memory.load("k").content, memory.load("k").attested) == (b"plain", "server")


def test_seed_clients_and_signing_clients_share_one_memory(machine: Machine) -> None:
    machine.trust_server()
    client = machine.served.client(machine.agent)
    with machine.memory() as memory:
        memory.save("signed", b"by the agent")
        save(client, "plain", "by the server")
        assert (rows(client), memory.load("plain").content) == (
            {"plain": "by the server", "signed": "by the agent"},
            b"by the server",
        )
        memory.save("plain", b"again")
        assert rows(client, "plain.sha256") == {"plain.sha256": memory.load("plain").sha256}


def test_a_key_that_is_not_the_enrolled_one_cannot_write(machine: Machine, tmp_path: Path) -> None:
    with machine.memory() as memory:
        memory.save("k", b"x")
        memory.erase("k")
    (tmp_path / "thief").mkdir()
    thief = Machine(tmp_path / "thief", machine.served, machine.agent)
    with thief.memory() as memory, pytest.raises((IntegrityError, Unchecked, ConflictError)):
        memory.save("k", b"evil")
    empty = Machine(tmp_path / "thief", machine.served, machine.agent + "x")
    with RemoteStore(machine.served.url, empty.agent, machine.served.key(empty.agent)) as store:
        from tests.support import signer_of

        from indelible.entry import origin_of

        store.enrol(signer_of(origin_of("local", empty.agent)).vkey)
    with empty.memory() as memory, pytest.raises(ConflictError):
        memory.save("k", b"evil")
    assert rows(machine.served.client(empty.agent)) == {}


# A server, or somebody on the way, that lies


def edit(path: str, **changes: Any) -> Callable[[httpx.Request, httpx.Response], httpx.Response]:
    """Put other members into the JSON replies of one path."""

    def change(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        if request.url.path != path or reply.status_code != 200:
            return reply
        return httpx.Response(
            200, json={**reply.json(), **{name: new(reply.json()[name]) for name, new in changes.items()}}
        )

    return change


def flip(text: str) -> str:
    data = bytearray(base64.b64decode(text))
    data[len(data) // 2] ^= 1
    return base64.b64encode(bytes(data)).decode()


@pytest.mark.parametrize("part", ["content", "salt", "body"])
def test_a_version_that_was_changed_on_the_way_is_refused(machine: Machine, part: str) -> None:
    with machine.memory() as memory:
        memory.save("k", b"the true text")
    with (
        meddled(edit("/v1/sealed", rows=lambda found: [{**row, part: flip(row[part])} for row in found])) as transport,
        machine.memory(transport) as memory,
    ):
        with pytest.raises(DigestMismatch):
            memory.load("k")
        assert [finding.slug for finding in memory.list().findings] == ["digest-mismatch"]


def test_a_version_that_is_kept_back_is_missed(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.save("k", b"text")
    with (
        meddled(edit("/v1/sealed", rows=lambda _: [])) as transport,
        machine.memory(transport) as memory,
        pytest.raises(Missing),
    ):
        memory.load("k")


def test_an_older_head_is_a_rollback(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.save("k", b"old")
        old = base64.b64encode(memory.checkpoint()).decode()
        memory.save("k", b"new")
    lies = (edit("/v1/sealed", note=lambda _: old), edit("/v1/head", note=lambda _: old))
    with (
        meddled(lambda request, reply: lies[1](request, lies[0](request, reply))) as transport,
        machine.memory(transport) as memory,
    ):
        with pytest.raises(RolledBack):
            memory.verify("k")
        with pytest.raises(RolledBack):
            memory.save("k", b"newer")


@pytest.mark.parametrize(
    "leaves",
    [
        lambda found: found[:-1],
        lambda found: found[::-1],
        lambda found: [flip(leaf) for leaf in found],
        lambda found: [*found, *found],
    ],
)
def test_leaves_that_were_dropped_reordered_or_edited_are_refused(machine: Machine, tmp_path: Path, leaves) -> None:
    with machine.memory() as memory:
        for number in range(3):
            memory.save(f"k{number}", b"x")
        signer = memory.signer
    (tmp_path / "fresh").mkdir()
    fresh = Machine(tmp_path / "fresh", machine.served, machine.agent)
    keystore(settings.load(fresh.home, home_of(fresh.home))).trust(signer.name, signer.vkey)
    with meddled(edit("/v1/entries", leaves=leaves)) as transport, fresh.memory(transport) as memory:
        if len(leaves(["AAAA"])) == 2:
            assert memory.load("k2").content == b"x"  # more than was asked for is not looked at
        else:
            with pytest.raises(IntegrityError):
                memory.load("k2")


def test_a_server_that_says_it_saved_and_did_not_is_not_believed(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.save("k", b"old")

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/commit":
            return httpx.Response(200, json={"status": "committed", "size": 2, "repeated": False})
        with httpx.Client() as plain:
            return _answer(plain, request)

    with machine.memory(httpx.MockTransport(handle)) as memory, pytest.raises(OutcomeUnknown):
        memory.save("k", b"new")
    with machine.memory() as memory:
        assert memory.load("k").content == b"old"


def _answer(client: httpx.Client, request: httpx.Request) -> httpx.Response:
    reply = client.send(
        client.build_request(request.method, request.url, headers=request.headers, content=request.read())
    )
    return httpx.Response(
        reply.status_code, headers={"content-type": reply.headers["content-type"]}, content=reply.content
    )


# Replies that are none


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (lambda: httpx.Response(200, json={"error": "disk"}), OutcomeUnknown),
        (lambda: httpx.Response(200, content=b""), OutcomeUnknown),
        (lambda: httpx.Response(202, json={"status": "queued"}), OutcomeUnknown),
        (lambda: httpx.Response(500, html="<h1>Internal Server Error</h1>"), OutcomeUnknown),
        (lambda: httpx.Response(502, html="<h1>Bad Gateway</h1>"), OutcomeUnknown),
        (lambda: httpx.Response(200, content=b"[" * 100_000), OutcomeUnknown),
        (lambda: httpx.Response(200, json={"status": "committed", "size": True}), OutcomeUnknown),
        (lambda: httpx.Response(404, html="no such page"), NotSaved),
        (lambda: httpx.Response(307, headers={"location": "http://evil.example/"}), NotSaved),
        (lambda: httpx.Response(403, html="no"), AccessDenied),
        (lambda: httpx.Response(413, json={"slug": "too-large", "detail": "Too large", "remedy": ""}), UsageError),
        (lambda: httpx.Response(503, json={"slug": "busy", "detail": "Busy", "remedy": ""}), NotSaved),
        (lambda: httpx.Response(507, json={"slug": "disk-full", "detail": "Full", "remedy": ""}), NotSaved),
        (lambda: httpx.Response(422, json={"slug": "commit-refused", "detail": "Off", "remedy": ""}), UsageError),
        (lambda: httpx.Response(500, json={"slug": "server-fault", "detail": "Off", "remedy": ""}), OutcomeUnknown),
    ],
)  # fmt: skip
def test_a_reply_to_a_write_that_is_no_acknowledgement_is_no_success(
    machine: Machine, reply, kind: type[Exception]
) -> None:
    with (
        meddled(lambda request, real: reply() if request.url.path == "/v1/commit" else real) as transport,
        machine.memory(transport) as memory,
    ):
        with pytest.raises(kind) as caught:
            memory.save("k", b"the content", op="op-1")
        assert caught.value.exit_code != 0  # type: ignore[attr-defined]
        assert "the content" not in str(caught.value)
    with machine.memory() as memory:
        assert memory.save("k", b"the content", op="op-1").version == 1
        assert len(memory.history("k")) == 1


def test_an_answer_that_is_lost_on_the_way_back_leaves_one_version(machine: Machine) -> None:
    lost = 0
    with machine.memory() as memory:
        memory.save("first", b"x")

    def lose(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        nonlocal lost
        if request.url.path == "/v1/commit" and lost < 2:
            lost += 1
            raise httpx.ReadError("connection reset", request=request)
        return reply

    with meddled(lose) as transport, machine.memory(transport) as memory:
        with pytest.raises(OutcomeUnknown) as caught:
            memory.save("k", b"x", op="op-1")
        assert caught.value.facts["op"] == "op-1"
        assert memory.save("k", b"x", op="op-1").repeated
        assert (memory.load("k").content, len(memory.history("k"))) == (b"x", 1)


def test_an_answer_that_is_lost_once_is_asked_for_again(machine: Machine) -> None:
    lost: list[str] = []

    def lose(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        if request.url.path not in lost:
            lost.append(request.url.path)
            raise httpx.RemoteProtocolError("server disconnected", request=request)
        return reply

    with meddled(lose) as transport, machine.memory(transport) as memory:
        assert memory.save("k", b"x").version == 1
        assert len(memory.history("k")) == 1


# Servers that are not there


def test_a_server_that_is_down_is_neither_verified_nor_tampered(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.save("k", b"x")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for url in (closed, "http://no-such-host.invalid"):
        with machine.memory(url=url) as memory:
            for act in (lambda: memory.verify("k"), lambda: memory.load("k"), lambda: memory.list()):  # noqa: PLW0108 - called here
                with pytest.raises(Unreachable, match="Not checked") as caught:
                    act()
                assert caught.value.exit_code == 1
            with pytest.raises((NotSaved, Unreachable)):
                memory.save("k", b"y")


def test_a_port_that_accepts_and_never_answers_ends_in_bounded_time(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "READ_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        with machine.memory(url=url) as memory, pytest.raises(Unreachable):
            memory.load("k")
        with pytest.raises(Unreachable):
            detect(url)
        assert time.monotonic() - begun < 5


def test_a_redirect_is_not_followed_with_the_key(machine: Machine) -> None:
    asked: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"location": "http://evil.example/v1/head"})

    with machine.memory(httpx.MockTransport(handle)) as memory:
        with pytest.raises(Unreachable, match=r"evil\.example"):
            memory.load("k")
        with pytest.raises(Unreachable):
            memory.save("k", b"x")
    assert set(asked) == {"127.0.0.1"}


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, json=[]), httpx.Response(200, json={}), httpx.Response(200, json={"note": 1, "rows": [], "through": 1}), httpx.Response(200, content=b"\xff"),
        httpx.Response(200, json={"note": "not base64", "entries": 0, "records": 0}), httpx.Response(200, json={"note": None, "entries": -1, "records": 0}),
        httpx.Response(200, json={"note": None, "entries": True, "records": 0}), httpx.Response(404, html="nothing"), httpx.Response(500, html="crash"),
        httpx.Response(200, content=b'{"note":null,"note":null,"entries":0,"records":0}'), httpx.Response(204),
    ],
)  # fmt: skip
def test_an_answer_to_a_read_that_is_none_is_not_checked(machine: Machine, reply: httpx.Response) -> None:
    with (
        machine.memory(httpx.MockTransport(lambda _: reply)) as memory,
        pytest.raises(Unreachable, match="Not checked"),
    ):
        memory.load("k")


def test_a_reply_without_an_end_is_cut(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b"x" * 1_000_000

    with (
        machine.memory(httpx.MockTransport(lambda _: httpx.Response(200, stream=Endless()))) as memory,
        pytest.raises(Unreachable, match=r"longer|end"),
    ):
        memory.load("k")


def test_the_wrong_key_the_wrong_agent_and_a_bad_address_are_said_plainly(machine: Machine) -> None:
    with machine.memory(key="idl_000000000000_wrong") as memory, pytest.raises(AccessDenied):
        memory.load("k")
    with (
        machine.memory(key=machine.served.key("somebody-else")) as memory,
        pytest.raises((AccessDenied, IntegrityError, NotFoundError)),
    ):
        memory.load("k")
    with RemoteStore(machine.served.url, "eros", "key") as store, pytest.raises(AccessDenied):
        store.peek("other", None)
    for bad in ("ftp://x", "http://", "http://u:p@host", "http://host?x=1", "http://host/#a", "host"):
        with pytest.raises(UsageError):
            RemoteStore(bad, "eros", "key")
    for bad in ("", "a b", "a\r\nx: y", "열쇠"):
        with pytest.raises(UsageError):
            RemoteStore("http://host", "eros", bad)


def test_an_indelible_server_is_told_from_a_plain_one_without_the_key(served: Served) -> None:
    assert detect(served.url) == "indelible"
    seen: list[httpx.Headers] = []

    def plain(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(404, json={"detail": "Not Found"})

    assert detect("http://plain.example", transport=httpx.MockTransport(plain)) == "plain"
    assert (
        detect(
            "http://plain.example", transport=httpx.MockTransport(lambda _: httpx.Response(200, json={"status": "ok"}))
        )
        == "plain"
    )
    assert all("x-api-key" not in headers for headers in seen)
    with pytest.raises(Unreachable):
        detect(
            "http://plain.example",
            transport=httpx.MockTransport(lambda _: httpx.Response(301, headers={"location": "http://evil.example"})),
        )


def test_a_save_on_a_damaged_memory_is_refused_and_a_restore_mends_it(machine: Machine) -> None:
    text = f"the true text of {machine.agent}"
    with machine.memory() as memory:
        memory.save("k", text.encode())
        machine.served.sql("UPDATE record SET content = CAST('evil' AS BLOB) WHERE content = CAST(? AS BLOB)", text)
        with pytest.raises(DigestMismatch):
            memory.load("k")
        with pytest.raises(DigestMismatch):
            memory.save("k", b"on top")
        memory.save("k", text.encode(), how="restored", reason="from git")
        assert (memory.load("k").content, memory.load("k", 1).content) == (text.encode(), text.encode())


def test_json_of_the_wire_is_plain(machine: Machine) -> None:
    bodies: list[Any] = []

    def keep(request: httpx.Request, reply: httpx.Response) -> httpx.Response:
        if request.url.path == "/v1/commit":
            bodies.append(json.loads(request.content))
        return reply

    with meddled(keep) as transport, machine.memory(transport) as memory:
        memory.save("k", b"x")
    assert [sorted(body) for body in bodies][-1] == ["changes", "expected", "mends", "note"]
