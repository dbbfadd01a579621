"""save, save-file, edit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from indelible.cli import anchoring as depending
from indelible.cli import common
from indelible.cli import relating as others
from indelible.cli.anchoring import Anchoring, Wanted, anchor_options
from indelible.cli.drafting import Told, drafting, record_options, told
from indelible.cli.fast import note_delivery
from indelible.cli.inputs import read_input
from indelible.cli.lookalikes import warnings_of
from indelible.cli.output import OK, WARN, shown
from indelible.cli.relating import Relating, relation_options
from indelible.cli.standing import placed, unsettled
from indelible.errors import UsageError
from indelible.sources import note_source, source_of_file, write_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indelible.cli.session import Session
    from indelible.memory import Memory, Saved


def _digest(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Checked before anything is read: what is no digest would be called a conflict."""
    bare = (value or "").removeprefix("sha256:").lower()
    if bare and (len(bare) != 64 or bare.strip("0123456789abcdef")):
        raise click.BadParameter(
            f"{value!r} is no SHA-256: 64 hex digits, or '' for no version at all", param=parameter
        )
    return value


def _save_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option(
            "--based-on",
            metavar="DIGEST",
            callback=_digest,
            help="sha256 of the version you had read; another one there is a conflict. '' for none.",
        ),
        click.option("--force", is_flag=True, help="Save over a newer version; that stands in the log."),
        click.option("--allow-empty", is_flag=True, help="Save nothing over something."),
        click.option(
            "--embed",
            is_flag=True,
            help="Save a JSON text with text, checksum, saved_at, source and branch, as older clients read it.",
        ),
        click.option("--dated", is_flag=True, help="Save under the dated key: MEMORY.md becomes MEMORY_MD_20260610."),
        click.option("--day", metavar="YYYY-MM-DD", help="The day of --dated. [today in UTC]"),
        common.reason_option,
        common.op_option,
    )
    for option in reversed((*options, record_options, anchor_options, relation_options)):
        command = option(command)
    return command


@click.command()
@common.key_argument
@click.argument("file", required=False, default="-")
@_save_options
@click.pass_obj
def save(session: Session, /, key: str, file: str, **options: Any) -> None:  # noqa: ANN401 - click hands options by name
    """Save FILE (or standard input) under KEY, sealed.

    Its exact bytes come back from 'load', or a refusal does.
    """
    _save(session, key, read_input(file), file, **options)


@click.command(name="save-file")
@common.key_argument
@click.argument("file")
@_save_options
@click.pass_obj
def save_file(session: Session, /, key: str, file: str, **options: Any) -> None:  # noqa: ANN401 - click hands options by name
    """Save FILE under KEY, as 'save' does (the older spelling)."""
    _save(session, key, read_input(file), file, **options)


def _save(  # noqa: PLR0913 - each an option of the command
    session: Session, key: str, content: bytes, file: str, *, based_on: str | None, force: bool, allow_empty: bool, embed: bool, dated: bool, day: str | None,
    reason: str | None, op: str | None, **said: Any,  # noqa: ANN401 - the record's options, by name
) -> None:  # fmt: skip
    from indelible.settings import now

    wanted, related = depending.take(said), others.take(said)
    # A folder that is gone, or settings that are wrong, are said before git is asked about anything.
    settings = common.settings_of(session)
    options = placed(told(now(), **said), settings)
    if day is not None and not dated:
        raise UsageError("--day is the day of a dated key", remedy="Say --dated too")
    key = common.dated(key, day) if dated else key
    with common.target(session) as memory:
        screened = memory.admit(content, {"key": key})
        text = content = screened.content
        # What was masked is no file's text any more: nothing in git has its digest.
        source, branch = ("", "") if screened.found else source_of_file(file, os.environ)
        if embed:
            content = _embedded(text, file, source, branch)
        anchoring = Anchoring(settings, wanted, text)
        anchoring.depend(memory, key)
        relating = Relating(settings, memory, key, related)
        make = drafting(memory, key, content, options, now(), os.urandom)
        saved = memory.save(
            key, screened._replace(content=content), based_on=based_on,
            record=lambda earlier: write_source(relating.put(anchoring.put(make(earlier))), text, source, branch, embedded=embed),
            how="forced" if force else "saved", reason=reason, allow_empty=allow_empty, op=op,
        )  # fmt: skip
        relating.finish(session, saved)
        note_source(settings, saved, text, source, branch, embedded=embed)
        note_delivery(settings, saved.key, "save", saved.version, saved.seq)
        past = _held_here(memory, saved.key)
    _say(session, saved, content, anchoring, [*past, *unsettled(options)])


def _held_here(memory: Memory, key: str) -> list[str]:
    """What `load` would say, where it would hold the memory that was just saved: better now than when it is needed."""
    from indelible.errors import IndelibleError

    if getattr(memory, "judge_plainly", None) is not None:  # a plain server judges nothing
        return []
    try:
        reasons = memory.judge(key).verdict.reasons
    except IndelibleError:  # it is saved all the same, and whoever loads it is told
        return []
    return [f"'load' holds it here: {'; '.join(reason.message for reason in reasons)}"] if reasons else []


def _embedded(content: bytes, file: str, source: str, branch: str) -> bytes:
    from indelible.plain.forms import embed
    from indelible.settings import now

    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"{file} is not UTF-8 at byte {exc.start}, and the embedded form is text", remedy="Save it without --embed"
        ) from exc
    return embed(text, saved_at=now(), source=source, branch=branch).encode("utf-8")


def _say(session: Session, saved: Saved, content: bytes, anchoring: Anchoring, more: Iterable[str] = ()) -> None:
    warnings = [*saved.warnings, *masking_of(saved), *warnings_of(saved.key), *more, *anchoring.warnings]
    characters = _characters(content)
    size = f"{len(content)} bytes" if characters is None else f"{characters} characters, {len(content)} bytes"
    version = f"version {saved.version}; " if saved.version else ""  # a plain server counts none
    again = "already saved" if saved.repeated else "saved"
    session.output.line(f"{OK} {again}  sha256:{saved.sha256}  {shown(saved.key)} ({version}{size})")
    for line in (*anchoring.lines(), *(f"{WARN} {warning}" for warning in warnings)):
        session.output.aside(line)
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "saved", "key": saved.key, "version": saved.version, "sha256": saved.sha256, "op": saved.op,
        "seq": saved.seq, "repeated": saved.repeated, "bytes": len(content), "characters": characters, "warnings": warnings,
        "masked": list(saved.masked), **anchoring.document(),
    })  # fmt: skip


def masking_of(saved: Saved) -> list[str]:
    """What to say where what is stored is not what was given."""
    if not saved.masked:
        return []
    places = ", ".join(saved.masked)
    differs = f"What is stored differs from what you gave, and sha256:{saved.sha256} is of the masked text"
    return [f"masked before it was saved: {places}. {differs}"]


def _characters(content: bytes) -> int | None:
    try:
        return len(content.decode("utf-8"))
    except UnicodeDecodeError:
        return None


@click.command()
@common.key_argument
@click.option("--editor", metavar="COMMAND", help="[VISUAL, EDITOR, or vi]")
@common.reason_option
@click.pass_obj
def edit(session: Session, key: str, editor: str | None, reason: str | None) -> None:
    """Edit the memory under KEY in your editor, and save it if it changed.

    Another save in the meantime is a conflict; your text is then kept in a file.
    """
    from indelible.cli.editing import edit_text
    from indelible.errors import IndelibleError, NotFoundError
    from indelible.gate.presets import PRESETS
    from indelible.settings import now

    with common.target(session) as memory:
        try:
            before = memory.load(key, policy=PRESETS["lifecycle"], door="edit")
            if (finding := getattr(before, "finding", None)) is not None:
                raise finding  # nothing is built upon a log that cannot be followed
            old, base = before.content, before.sha256
        except NotFoundError:
            old, base = b"", ""
        new, kept = edit_text(old, key, editor, apart=session.output.json)
        if new == old:
            kept.drop()
            session.output.line(f"Nothing changed: {shown(key)} stays as it is")
            session.output.document(
                {"ok": True, "exit_code": 0, "slug": "unchanged", "key": key, "sha256": base or None}
            )
            return
        try:  # what was typed comes from no file in git
            screened = memory.admit(new, {"key": key})
            new = screened.content
            make = drafting(memory, key, new, Told(), now(), os.urandom)
            anchoring = Anchoring(common.settings_of(session), Wanted(), new)
            saved = memory.save(
                key,
                screened,
                record=lambda earlier: write_source(anchoring.put(make(earlier)), new, "", "", embedded=False),
                based_on=base,
                reason=reason,
            )
        except IndelibleError as error:
            error.remedy = f"Your text is kept in {kept.path}. {error.remedy}".strip()
            raise
        kept.drop()
        note_source(common.settings_of(session), saved, new, "", "", embedded=False)
    _say(session, saved, new, anchoring)
