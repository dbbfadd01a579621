"""load, verify, list, history, diff."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.common import policy_of, policy_option
from indelible.cli.fast import fail, judge, note_delivery, notes_of, read
from indelible.cli.inputs import read_input
from indelible.cli.lookalikes import is_decomposed, twins_among
from indelible.cli.output import BAD, OK, WARN, counted, escaped, shown, visible, write_bytes
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, UsageError
from indelible.memory.results import Loaded

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.gate.policy import Policy
    from indelible.memory import Listing, Memory
    from indelible.memory.results import Listed
    from indelible.plain.results import PlainLoaded
    from indelible.settings import Settings

SHOWN_AT_ONCE = 1000
"""Memories in one listing unless told otherwise; the rest is named by their number."""


@click.command()
@common.key_argument
@click.option(
    "-o", "--output", "file", metavar="FILE", help="Write to FILE, whole or not at all. [standard output, as for -]"
)
@click.option("--version", "number", type=click.IntRange(1), metavar="N", help="An older version.")
@click.option(
    "--fenced",
    is_flag=True,
    help="For a model's context: in a frame that the text cannot imitate, with its provenance.",
)
@common.files_option
@policy_option
@click.pass_obj
def load(
    session: Session,
    *,
    key: str,
    file: str | None,
    number: int | None,
    fenced: bool,
    files: tuple[str, ...],
    policy: str | None,
) -> int:
    """Give back exactly the bytes that were saved under KEY, or refuse; exit 4 where it is held, with every reason.

    Standard output gets the raw bytes; what there is to say goes to standard error. Where the log around it was
    altered, a memory that is still what this reader had verified is given, with exit code 2.
    """
    chosen = policy_of(policy)
    with common.target(session, files) as memory:
        loaded = _load(memory, key, number, chosen)
        _note(session, memory, loaded)
        _warn(session, loaded)
        file, content = None if file == "-" else file, _framed(loaded) if fenced else loaded.content
        if file is not None:
            _write_file(common.settings_of(session), file, content)
        elif not session.output.json:
            write_bytes(content)
        members = _document(loaded, memory.agent, content if file is None else None)
        session.output.document(members)
    return 0 if members["ok"] else IntegrityError.exit_code


def _load(memory: Memory, key: str, number: int | None, policy: Policy | None) -> Loaded:
    """A memory; or, for KEY.sha256 where no client stated one, the checksum of KEY as the seeds write it."""
    from indelible.stating import refuse_contradicted

    try:
        if getattr(memory, "judge_plainly", None) is None:  # before it is written down as delivered
            refuse_contradicted(memory, memory.fetch(key, number))
        return memory.load(key, number, policy=policy, door="load")
    except NotFoundError:
        about = key.removesuffix(".sha256")
        if about in {"", key} or number is not None:
            raise
        loaded = memory.load(about, policy=policy, door="load")
        return loaded._replace(key=key, content=loaded.sha256.encode())


def _framed(loaded: Loaded | PlainLoaded) -> bytes:
    from indelible.memory.framing import framed

    if not isinstance(loaded, Loaded):
        raise UsageError("A plain Memory API tells nothing that could stand in a frame", remedy="Leave --fenced out")
    return f"{framed(loaded, os.urandom)}\n".encode()


def _note(session: Session, memory: Memory, loaded: Loaded | PlainLoaded) -> None:
    """What the gate judged, it has written down itself."""
    if not isinstance(loaded, Loaded):
        if loaded.checksum_ok is not False:
            note_delivery(common.settings_of(session), loaded.key, "load")
    elif memory.gate.journal is not None and memory.gate.journal.warning:
        session.output.aside(f"{WARN} {memory.gate.journal.warning}")


def _warn(session: Session, loaded: Loaded | PlainLoaded) -> None:
    for warning in getattr(loaded, "warnings", ()):
        session.output.aside(f"{WARN} {warning}")
    if isinstance(loaded, Loaded) and loaded.finding is not None:
        session.output.aside(f"{BAD} The store was altered: {loaded.finding}")
        session.output.aside(
            f"{WARN} {visible(loaded.key)} itself is what this reader had verified before, and is given"
        )
    for note in notes_of(loaded, "") if isinstance(loaded, Loaded) else ():
        session.output.aside(f"{WARN} {note}")
    verdict = loaded.verdict if isinstance(loaded, Loaded) else None
    for said in verdict.notes if verdict is not None else ():
        if said.slug == "unreviewed":
            session.output.aside(f"{WARN} unreviewed")
        elif said.slug != "no-expiry":
            session.output.aside(f"{WARN} {said.slug}: {said.message}" + (f". {said.remedy}" if said.remedy else ""))


def _document(loaded: Loaded | PlainLoaded, agent: str, content: bytes | None) -> dict[str, object]:
    members: dict[str, object] = {
        "ok": True, "exit_code": 0, "slug": "loaded", "key": loaded.key, "agent": agent, "sha256": loaded.sha256,
        "bytes": len(loaded.content), "checksum_ok": loaded.checksum_ok,
    }  # fmt: skip
    if isinstance(loaded, Loaded):
        members |= {
            "version": loaded.version,
            "attested": loaded.attested,
            "rollback_checked": loaded.pin_origin not in {"first-use", "repository"},
            "finding": None,
            "verdict": None if loaded.verdict is None else loaded.verdict.as_dict(),
            "delivery": loaded.delivery,
        }
        if loaded.finding is not None:
            finding = loaded.finding.as_dict()
            members |= {
                "ok": False,
                "exit_code": IntegrityError.exit_code,
                "slug": loaded.finding.slug,
                "finding": finding,
            }
    if content is not None:
        try:
            members |= {"encoding": "utf-8", "content": content.decode("utf-8")}
        except UnicodeDecodeError:
            from base64 import b64encode

            members |= {"encoding": "base64", "content": b64encode(content).decode()}
    return members


def _write_file(settings: Settings, path: str, content: bytes) -> None:
    """With the rights of the file that is there, else those that the user's umask gives."""
    from indelible.cli.outputs import write_output

    whole = os.path.abspath(path)
    try:
        before = os.stat(whole).st_mode & 0o777
    except OSError:
        before = None
    write_output(settings, whole, content, mode=0o666 if before is None else before)
    if before is not None:
        os.chmod(whole, before)  # the umask may have taken some of them


@click.command()
@common.key_argument
@click.argument("file", required=False)
@click.option(
    "--strict", is_flag=True, help="A legacy memory that never had a checksum is a failure (exit 2), not a warning."
)
@click.pass_obj
def verify(session: Session, key: str, file: str | None, strict: bool) -> int:  # noqa: FBT001 - click's call
    """Say in one line whether KEY is what was sealed; with FILE, whether that local copy is.

    Exit 0: it is. 2: it is not, or FILE was edited: stop. 5: FILE differs in line endings only.
    1: it could not be checked, which is never to be read as verified.
    """
    try:
        with common.target(session) as memory:
            if (plain := getattr(memory, "judge_plainly", None)) is not None:
                code: int = plain(key, file, session.output, strict=strict)
                if not code:
                    note_delivery(common.settings_of(session), key, "verify")
                return code
            found = read(memory, key)
            note_delivery(common.settings_of(session), key, "verify", found.loaded.version, found.loaded.seq)
            return judge(found, file, session.output, agent=memory.agent)
    except IndelibleError as error:
        return fail(error, session.output, key)


@click.command(name="list")
@click.argument("prefix", required=False, default="")
@click.option("--all", "every", is_flag=True, help="Archived and superseded ones too.")
@click.option("--limit", type=click.IntRange(1), default=SHOWN_AT_ONCE, show_default=True, help="At most so many.")
@click.option("--after", metavar="KEY", default="", help="Begin after this key (the next page).")
@click.pass_obj
def list_(session: Session, prefix: str, every: bool, limit: int, after: str) -> int:  # noqa: FBT001 - click's call
    """List memories, each verified; what fails is named, and the exit code is 2."""
    from indelible.settings import now

    states = frozenset({"active", "archived", "superseded"} if every else {"active"})
    with common.target(session) as memory:
        listing = memory.list(prefix=prefix, after=after, limit=limit, states=states)
    today = now()
    for item in listing.items:
        mark = _mark(item, today)
        session.output.line(
            f"{OK} {shown(item.key)}  v{item.version}  {item.at}  {item.size} bytes  sha256:{item.sha256[:12]}…{mark}"
        )
    for finding in listing.findings:
        session.output.line(f"{BAD} {visible(str(finding))}")
    session.output.line(_summary(listing, limit))
    for twins in twins_among(item.key for item in listing.items):
        session.output.aside(f"{WARN} these keys look alike and are different: {', '.join(map(escaped, twins))}")
    code = IntegrityError.exit_code if listing.findings else 0
    session.output.document({
        "ok": not listing.findings, "exit_code": code, "slug": "tampered" if listing.findings else "listed", "total": listing.total,
        "next": listing.next, "findings": [finding.as_dict() for finding in listing.findings],
        "memories": [{"key": i.key, "version": i.version, "state": _state(i, today), "at": i.at, "bytes": i.size, "sha256": i.sha256, "attested": i.attested}
                     for i in listing.items],
    })  # fmt: skip
    return code


def _summary(listing: Listing, limit: int) -> str:
    more = f"; the next page begins with --after {listing.next!r} (--limit {limit})" if listing.next is not None else ""
    return f"{len(listing.items)} of {counted(listing.total, 'memory', 'memories')}{more}"


def _mark(item: Listed, now: str) -> str:
    state = _state(item, now)
    return ("" if state == "active" else f"  ({state})") + ("  (decomposed Unicode)" if is_decomposed(item.key) else "")


def _state(item: Listed, now: str) -> str:
    """`expired` is no state of the log, and yet `load` holds such a memory back."""
    if item.state != "active" or b'"expires_at"' not in item.body:
        return item.state
    from indelible.record import Record, instant

    expires = Record.from_body(item.body).validity.expires_at
    return "expired" if expires is not None and instant(expires) <= instant(now) else item.state


@click.command()
@common.key_argument
@click.pass_obj
def history(session: Session, key: str) -> None:
    """Everything the log says about KEY, newest first."""
    with common.target(session) as memory:
        versions = memory.history(key)
    for item in versions:
        how = f" ({item.how})" if item.how not in ("", "saved") else ""
        why = f"  {visible(item.reason)}" if item.reason else ""
        why += "  (by a revoked key: refused)" if item.revoked else ""
        session.output.line(f"{item.at}  entry {item.seq}  {item.type}{how} version {item.version}  by {item.by}{why}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "history", "key": key,
        "entries": [{"type": i.type, "seq": i.seq, "version": i.version, "at": i.at, "by": i.by, "how": i.how, "reason": i.reason, "op": i.op,
                     "revoked": i.revoked, "leaf": i.leaf.hex()}
                    for i in versions],
    })  # fmt: skip


@click.command()
@common.key_argument
@click.argument("file", required=False)
@click.option(
    "--version", "number", type=click.IntRange(1), metavar="N", help="Compare this version. [the one before the newest]"
)
@click.pass_obj
def diff(session: Session, key: str, file: str | None, number: int | None) -> int:
    """Show what changed between two versions of KEY, or between KEY and FILE. Exit 0 where nothing did, else 1."""
    with common.target(session) as memory:
        newest = memory.fetch(key)
        if file is not None:
            old, new = (number and memory.fetch(key, number)) or newest, None
        else:
            old, new = memory.fetch(key, number or max(newest.version - 1, 1)), newest
    right = read_input(file) if new is None else new.content
    names = (f"{visible(key)} (version {old.version})", file or f"{visible(key)} (version {newest.version})")
    return _show_diff(session, old.content, right, names)


def _show_diff(session: Session, old: bytes, new: bytes, names: tuple[str, str]) -> int:
    from difflib import diff_bytes, unified_diff

    lines = list(
        diff_bytes(
            unified_diff,
            old.splitlines(keepends=True),
            new.splitlines(keepends=True),
            names[0].encode(),
            names[1].encode(),
        )
    )
    endings = old.replace(b"\r\n", b"\n") == new.replace(b"\r\n", b"\n")
    session.output.document({
        "ok": old == new, "exit_code": int(old != new), "slug": "same" if old == new else "line-endings" if endings else "different",
        "diff": b"".join(lines).decode("utf-8", "backslashreplace"),
    })  # fmt: skip
    if session.output.json:
        return int(old != new)
    for line in lines:
        text = line.decode("utf-8", "backslashreplace").rstrip("\n")
        session.output.line("\n".join(visible(part) for part in text.split("\n")))
    if old != new and endings:
        session.output.aside(f"{WARN} Only line endings differ")
    return int(old != new)
