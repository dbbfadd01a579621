"""What `erase --verify` does and says: erase, search every file, and name those in which something is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible import erasing, wiring
from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import Unchecked

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.cli.session import Session
    from indelible.erasing import Erased, Remains, Wanted
    from indelible.settings import Settings

_SEARCHED = "store, state, settings, keys and what 'edit' left"
_AGAIN = (
    "End what reads the store or keeps a copy, then 'indelible erase KEY --verify --text FILE' with the text in FILE"
)


def erase_and_search(
    session: Session, key: str, confirm: Callable[[], None], file: str | None, *, reason: str | None, op: str | None
) -> int:
    """Erase a memory if it is not erased yet, and search every file for it; the exit code is 0 only where nothing is left."""
    settings = common.settings_of(session)
    text = read_input(file) if file is not None else None
    with common.target(session) as memory:
        before = erasing.is_erased(memory, key)
        if not before:
            confirm()
        wanted = erasing.wanted_of(settings, memory, key, text)
        done = None if before else erasing.erase(settings, memory, key, reason=reason, op=op)
        warnings = done.warnings if done else tuple(filter(None, (memory.purge(), *erasing.forget(settings, key))))
    if done is not None:
        session.output.line(
            f"{OK} erased  {shown(key)} (version {done.saved.version}, entry {done.saved.seq}){with_it(done)}"
        )
    for warning in (*warnings, *wanted.notes):
        session.output.aside(f"{WARN} {warning}")
    if not wanted.traces:
        raise Unchecked(
            f"{shown(key)!r} was erased before, or holds nothing that can be told from other bytes: nothing was searched for",
            remedy="Say what to search for with --text FILE", key=key,
        )  # fmt: skip
    remains = _search(session, settings, wanted, file)
    if _is_in_store(settings, remains) and not warnings:
        with wiring.open_memory(
            settings
        ) as memory:  # which knows nothing of what was there, and so writes the file anew
            warnings = tuple(filter(None, (memory.purge(),)))
        remains = _search(session, settings, wanted, file)
    return _say(session, settings, done, wanted, remains, warnings)


def with_it(done: Erased) -> str:
    """What went with a memory, in words that follow its name."""
    return "".join(f", and {shown(key)}, its checksum" for key in done.also)


def _search(session: Session, settings: Settings, wanted: Wanted, file: str | None) -> Remains:
    with common.progress(session.output, "Searching") as advance:
        return erasing.look(settings, wanted.traces, advance, but=None if file == "-" else file)


def _is_in_store(settings: Settings, remains: Remains) -> bool:
    return any(file.startswith(settings.store) for file, _ in remains.left)


def _say(
    session: Session,
    settings: Settings,
    done: Erased | None,
    wanted: Wanted,
    remains: Remains,
    warnings: tuple[str, ...],
) -> int:
    left = dict(remains.left)
    if warnings:  # the last copies could not be overwritten: what another memory holds too cannot be told from them
        left |= {one.file: starts for one in remains.found if (starts := one.places(set()))}
    for one in remains.found:
        if starts := left.get(one.file, ()):
            session.output.line(f"{BAD} {len(starts)} found  {one.file} at byte {starts[0]:,}")
    for holder in remains.holders:
        session.output.line(
            f"   the same text stands in {shown(holder.key)} (version {holder.version}, {visible(holder.agent)}), which was not erased"
        )
    problems = [*remains.problems, *warnings, *(remains.said if left else ())]
    if settings.remote:
        problems.append(
            f"The files of the server {settings.store} cannot be searched from here: whoever runs it can, with"
            " 'indelible erase KEY --verify --text FILE' there"
        )
    for problem in problems:
        session.output.aside(f"{WARN} {problem}")
    slug = "remains" if left else "unchecked" if problems else "erased"
    session.output.line(_verdict(slug, left, remains, wanted))
    session.output.document({
        "ok": slug == "erased", "exit_code": int(slug != "erased"), "slug": slug, "verified": slug == "erased",
        "remedy": "" if slug == "erased" else _AGAIN, **_saved(done, wanted),
        "files": [{"file": one.file, "found": len(left.get(one.file, ())), "offsets": list(left.get(one.file, ())),
                   "explained": len(one.places(set())) if one.file not in left else 0, "problem": one.problem} for one in remains.found],
        "also_in": [holder._asdict() for holder in remains.holders], "notes": [*wanted.notes, *problems],
    })  # fmt: skip
    return int(slug != "erased")


def _saved(done: Erased | None, wanted: Wanted) -> dict[str, object]:
    known: dict[str, object] = {"versions_looked_for": wanted.versions}
    if done is None:
        return known
    saved = done.saved
    return known | {
        "key": saved.key,
        "version": saved.version,
        "seq": saved.seq,
        "op": saved.op,
        "also_erased": list(done.also),
    }


def _verdict(slug: str, left: dict[str, tuple[int, ...]], remains: Remains, wanted: Wanted) -> str:
    what = counted(wanted.versions, "version", "versions") if wanted.versions else "the text given"
    looked = f"searched {counted(len(remains.found), 'file', 'files')} of {_SEARCHED} for {what}"
    if slug == "erased":
        return f"{OK} {looked}: nothing of it left"
    if slug == "unchecked":
        return f"{WARN} {looked}: nothing of it found, and not everything could be checked"
    places = sum(map(len, left.values()))
    return f"{BAD} {looked}: it is still in {counted(places, 'place', 'places')} of {counted(len(left), 'file', 'files')}. {_AGAIN}"
