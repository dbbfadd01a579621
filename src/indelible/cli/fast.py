"""`verify` for a local store, without click: what a session opening runs every time.

Whatever is not plainly `verify KEY [FILE]` with the global options is left to the full command
line, which gives the same answers through `judge`.
"""

from __future__ import annotations

from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, Output, is_korean, visible
from indelible.errors import IndelibleError
from indelible.light import TYPE_CHECKING, NamedTuple
from indelible.memory.results import compare

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.memory.results import Loaded, Verified
    from indelible.settings import Settings

_VALUED = {"--agent": "agent", "--store": "store"}
_FLAGS = {"--json": "json", "--strict": "strict"}
DIFFERENT, LINE_ENDINGS = 2, 5
"""Exit codes for a local copy that is not the sealed one."""


class Asked(NamedTuple):
    """The words of one `verify`."""

    key: str
    file: str | None
    agent: str | None
    store: str | None
    json: bool
    strict: bool


def verify(arguments: list[str]) -> int | None:
    """The exit code, or None where the full command line must look."""
    asked = _parse(arguments)
    if asked is None:
        return None
    from indelible import settings

    output = Output(asked.json)
    try:
        found = settings.load(store=asked.store, agent=asked.agent)
        if found.remote:
            return None
        read = _read_pinned(found, asked.key) or _read_through(found, asked.key)
        note_delivery(found, read.loaded.key, "verify", read.loaded.version, read.loaded.seq)
        return judge(read, asked.file, output, agent=found.agent)
    except IndelibleError as error:
        return fail(error, output, asked.key)


class Read(NamedTuple):
    """A verified memory, with what else there is to say of it."""

    loaded: Loaded
    warning: str = ""


def _read_pinned(found: Settings, key: str) -> Read | None:
    """The shortest read there is: nothing new since this reader last followed the store, no pin given, no checksum stated."""
    if found.pin is not None or found.require_pin:
        return None
    from indelible.errors import NotFoundError, PinLost, StoreError
    from indelible.memory.pinned import leaf_at, read_pinned
    from indelible.store.places import follower_of
    from indelible.store.sqlite import SqliteStore

    try:
        with SqliteStore(found.store) as store:
            follower = follower_of(found.state_dir, found.config_dir, store.place, found.agent)
            loaded = read_pinned(store, follower, found.agent, key, "")
            if loaded is not None:
                with store.reading(found.agent) as reading:
                    leaf_at(reading, f"the log of {found.agent!r}", loaded.latest.head_seq, loaded.latest.head, key=key)
            stated = loaded is not None and (
                b'"checksum"' in loaded.content or follower.look(key + ".sha256")[1] is not None
            )
            follower.close()
    except (NotFoundError, StoreError, PinLost):
        return None  # the long way says why
    return None if loaded is None or stated else Read(loaded, follower.warning)


def _read_through(found: Settings, key: str) -> Read:
    from indelible import wiring

    with wiring.open_memory(found) as memory:
        return read(memory, key)


def read(memory: Memory, key: str) -> Read:
    """Verify a memory, and hold it against what its writer stated.

    Raises:
        IntegrityError: it is not what was sealed, or not what was stated.
    """
    from indelible.stating import refuse_contradicted

    loaded = memory.verify(key).loaded
    refuse_contradicted(memory, loaded)
    return Read(loaded, memory.warning)


def note_delivery(found: Settings, key: str, door: str, version: int = 0, seq: int = 0) -> None:
    """Remember what was verified or handed out, for the day of an incident; a plain server counts no versions."""
    from indelible.deliveries import Delivery, journal_of, outcome_of
    from indelible.settings import now
    from indelible.store.follower import name_of

    journal = journal_of(found.state_dir, name_of(found.store, found.agent))
    journal.add(Delivery(now(), door, key, version, seq, outcome_of(door), found.agent))
    if journal.warning:
        Output().aside(f"{WARN} {journal.warning}")
    journal.close()


def judge(read: Read, file: str | None, output: Output, *, agent: str) -> int:
    """Compare `file` with a verified memory, and say it in one line."""
    loaded = read.loaded
    verified = compare_text(loaded, read_input(file) if file is not None else None)
    code = {"different": DIFFERENT, "line-endings": LINE_ENDINGS}.get(verified.local, 0)
    notes = notes_of(loaded, read.warning)
    output.line(_line(verified, file, visible(agent)))
    for note in notes:
        output.aside(f"{WARN} {note}")
    output.document({
        "ok": code == 0, "exit_code": code, "slug": {0: "verified", DIFFERENT: "local-differs", LINE_ENDINGS: "line-endings"}[code],
        "key": loaded.key, "agent": agent, "version": loaded.version, "sha256": loaded.sha256, "checksum_ok": True,
        "local": verified.local, "local_sha256": verified.local_sha256, "state": loaded.latest.state, "attested": loaded.attested,
        "rollback_checked": loaded.pin_origin not in {"first-use", "repository"}, "notes": notes,
    })  # fmt: skip
    return code


def compare_text(loaded: Loaded, local: bytes | None) -> Verified:
    """As `compare`; of a memory in the seeds' JSON form, a local copy may also be the text inside."""
    verified = compare(loaded, local)
    if local is None or verified.local == "same" or b'"checksum"' not in loaded.content:
        return verified
    from indelible import stating

    return stating.compare_text(loaded, local)


def fail(error: IndelibleError, output: Output, key: str) -> int:
    """Say that it failed, in the seed's words where the store was altered."""
    if error.exit_code != DIFFERENT:
        return output.error(error)
    head = "변조 감지 — 복원 중단 권고" if is_korean() else "tampering found — do not restore from this store"
    output.line(f"{BAD} {head}: {visible(key)}")
    return output.error(error)


def _line(verified: Verified, file: str | None, agent: str) -> str:
    passed = "검증 통과" if is_korean() else "verified"
    loaded = verified.loaded
    key = visible(loaded.key)
    line = f"{OK} {passed}  sha256:{loaded.sha256}  {key} (version {loaded.version}, {agent})"
    if verified.local == "same":
        return f"{line}; {file} is the same"
    if verified.local == "line-endings":
        return f"{line}\n{WARN} {file} differs from it in line endings only (sha256:{verified.local_sha256})"
    if verified.local == "different":
        return f"{line}\n{BAD} {file} is not what was sealed (sha256:{verified.local_sha256}): see 'indelible diff {key} {file}'"
    return line


def notes_of(loaded: Loaded, warning: str) -> list[str]:
    """What must be said beside a good memory: what was not checked, who attested it, what `load` would do with it."""
    notes = []
    if loaded.pin_origin == "first-use":
        notes.append("rollback not checked before this reader's first look at this store")
    if loaded.pin_origin == "repository":
        notes.append("rollback checked against the pin that this repository brings, and against nothing of your own")
    if loaded.attested == "server":
        notes.append("server-attested: saved without the agent's signature")
    if loaded.latest.state != "active" or _is_expired(loaded):
        notes.append(
            f"{loaded.latest.state if loaded.latest.state != 'active' else 'expired'}: verified, but not handed out by 'load'"
        )
    return notes + ([warning] if warning else [])


def _is_expired(loaded: Loaded) -> bool:
    if b'"expires_at"' not in loaded.body:  # most records: nothing is imported for them
        return False
    from indelible.record import instant
    from indelible.settings import now

    expires = loaded.record.validity.expires_at
    return expires is not None and instant(expires) <= instant(now())


def _parse(arguments: list[str]) -> Asked | None:
    words: list[str] = []
    valued: dict[str, str] = {}
    flags: set[str] = set()
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUED and (value or not equals):
            valued[_VALUED[name]] = value if equals else next(rest, "")
        elif word in _FLAGS:
            flags.add(_FLAGS[word])
        elif word.startswith("-") and word != "-":
            return None
        else:
            words.append(word)
    if len(words) not in (2, 3) or words[0] != "verify" or "" in valued.values() or not _is_text(words[1]):
        return None
    return Asked(
        words[1],
        words[2] if len(words) == 3 else None,
        valued.get("agent"),
        valued.get("store"),
        "json" in flags,
        "strict" in flags,
    )


def _is_text(word: str) -> bool:
    """Whether an argument was UTF-8: what was not holds half surrogates."""
    return word.isascii() or not any("\ud800" <= char <= "\udfff" for char in word)
