"""Reading the memories of several agents of one store, each verified as by any other read, into what is compared of them.

What is compared is what is in force: active, and not archived or erased. Whether it would be handed over to a reader is not asked:
a held memory is the one that contamination is likeliest to be in. Its text is shown to nobody for that.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from indelible import wiring
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, UsageError
from indelible.memory.standing import standing
from indelible.recall.overlap import Profiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indelible.memory import Memory
    from indelible.memory.results import Loaded
    from indelible.recall.ngrams import Embed
    from indelible.recall.overlap import Profile
    from indelible.settings import Settings

_IN_FORCE = frozenset({"active", "superseded"})
_STEPS = 1000
"""Into how many an agent's part of the progress is divided."""


class Gathered(NamedTuple):
    """What was read."""

    profiles: tuple[Profile, ...]
    """In the order of the agents' names."""
    memories: dict[str, tuple[tuple[str, int, str], ...]]
    """Key, version and time of saving of each memory of an agent, by the number that its profile has for it."""
    of: str
    """Stands for the very memories that were read."""
    findings: tuple[IntegrityError, ...]
    unread: tuple[tuple[str, IndelibleError], ...]


def agents_of(settings: Settings) -> tuple[str, ...]:
    """The agents that have a log in the store.

    Raises:
        UsageError: the store is a server, whose keys show each its own agent.
    """
    if settings.remote:
        raise UsageError(
            "A server tells nobody which agents it holds: an API key is one agent's",
            remedy="Name those whose keys you have: --agents A,B",
        )
    store = wiring.open_store(settings)
    try:
        return store.agents()
    finally:
        store.close()


def gather(
    settings: Settings, agents: tuple[str, ...], *, named: bool, embed: Embed | None, advance: Callable[[int, int], None]
) -> Gathered:  # fmt: skip
    """Read what is in force of each agent.

    Args:
        agents: sorted, each once.
        named: the user named them, so that one that cannot be read is an error, and not only told.

    Raises:
        NotFoundError: an agent that was named has no log there. IndelibleError: one of those cannot be read.
    """
    if settings.remote and wiring.is_plain(settings):
        raise UsageError(
            f"{settings.store} keeps no log, so nothing there can be verified",
            remedy="Use a local store, or an Indelible server",
        )
    profiles: list[Profile] = []
    memories: dict[str, tuple[tuple[str, int, str], ...]] = {}
    findings: list[IntegrityError] = []
    unread: list[tuple[str, IndelibleError]] = []
    of = sha256()
    for number, agent in enumerate(agents):

        def stepped(done: int, total: int, number: int = number) -> None:
            advance(number * _STEPS + done * _STEPS // max(1, total), len(agents) * _STEPS)

        profiler = Profiler(agent, embed)
        keys: list[tuple[str, int, str]] = []
        of.update(f"{len(agent)} {agent}\n".encode("utf-8", "surrogatepass"))
        try:
            with wiring.open_memory(settings, agent=agent) as memory:
                for loaded in in_force(memory, findings, stepped):
                    profiler.add(loaded.key, loaded.content)
                    keys.append((loaded.key, loaded.version, loaded.latest.at))
                    of.update(loaded.latest.content + loaded.key.encode("utf-8", "surrogatepass") + b"\n")
        except IntegrityError as finding:
            finding.facts.setdefault("agent", agent)
            findings.append(finding)
        except IndelibleError as error:
            if named:
                raise
            unread.append((agent, error))
            continue
        profiles.append(profiler.done())
        memories[agent] = tuple(keys)
    return Gathered(tuple(profiles), memories, of.hexdigest()[:32], tuple(findings), tuple(unread))


def in_force(
    memory: Memory, findings: list[IntegrityError], advance: Callable[[int, int], None] = lambda _done, _all: None
) -> Iterator[Loaded]:  # fmt: skip
    """Every memory in force, verified, in the order in which they were saved; what is not what was sealed goes to `findings`.

    Raises:
        IntegrityError: the log cannot be followed. NotFoundError: there is none.
    """
    with memory.following() as (table, _, head):
        rows = [(row.saved_seq, key) for key, row in table.keys(prefix="") if row.state in _IN_FORCE]
        memory.follower.keep(table)
        if not head.size:
            raise NotFoundError(
                f"{memory.agent!r} has no memory at {memory.store.place}",
                remedy="'indelible list' shows whose memory is where",
                agent=memory.agent,
            )
    rows.sort()
    for done, (_, key) in enumerate(rows, 1):
        try:
            loaded = memory.fetch(key)
            if loaded.latest.state == "active" or standing(memory, loaded).state == "active":
                yield loaded
        except NotFoundError:
            continue  # erased since
        except IntegrityError as finding:
            finding.facts.setdefault("agent", memory.agent)
            findings.append(finding)
        if not done % 64 or done == len(rows):
            advance(done, len(rows))
