"""save, save-file, edit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from indelible.cli import common
from indelible.cli.drafting import drafting, record_options, told
from indelible.cli.output import OK, WARN, visible
from indelible.cli.sources import source_of_file, write_source
from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.cli.main import Session
    from indelible.memory import Saved


def _save_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--based-on", metavar="DIGEST", help="sha256 of the version you had read; another one there is a conflict. '' for none."),
        click.option("--force", is_flag=True, help="Save over a newer version; that stands in the log."),
        click.option("--allow-empty", is_flag=True, help="Save nothing over something."),
        click.option("--embed", is_flag=True, help="Save the seed's JSON form: text, checksum, saved_at, source, branch."),
        click.option("--dated", is_flag=True, help="Save under the dated key: MEMORY.md becomes MEMORY_MD_20260610 (UTC)."),
        common.reason_option,
        common.op_option,
    )
    for option in reversed((*options, record_options)):
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
    _save(session, key, common.read_input(file), file, **options)


@click.command(name="save-file")
@common.key_argument
@click.argument("file")
@_save_options
@click.pass_obj
def save_file(session: Session, /, key: str, file: str, **options: Any) -> None:  # noqa: ANN401 - click hands options by name
    """Save FILE under KEY (the seed's spelling of 'save')."""
    _save(session, key, common.read_input(file), file, **options)


def _save(
    session: Session, key: str, content: bytes, file: str, *, based_on: str | None, force: bool, allow_empty: bool, embed: bool, dated: bool,
    reason: str | None, op: str | None, **said: Any,  # noqa: ANN401 - the record's options, by name
) -> None:  # fmt: skip
    from indelible.settings import now

    options = told(now(), **said)
    key = common.dated(key) if dated else key
    source, branch = source_of_file(file)
    text = content
    if embed:
        content = _embedded(text, file, source, branch)
    with common.target(session) as memory:
        make = drafting(memory, key, content, options, now(), os.urandom)
        saved = memory.save(
            key, content, record=lambda earlier: write_source(make(earlier), text, source, branch, embedded=embed), based_on=based_on,
            how="forced" if force else "saved", reason=reason, allow_empty=allow_empty, op=op,
        )  # fmt: skip
    _say(session, saved, content)


def _embedded(content: bytes, file: str, source: str, branch: str) -> bytes:
    from indelible.plain.forms import embed
    from indelible.settings import now

    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError(f"{file} is not UTF-8 at byte {exc.start}, and the embedded form is text", remedy="Save it without --embed") from exc
    return embed(text, saved_at=now(), source=source, branch=branch).encode("utf-8")


def _say(session: Session, saved: Saved, content: bytes) -> None:
    characters = _characters(content)
    size = f"{len(content)} bytes" if characters is None else f"{characters} characters, {len(content)} bytes"
    again = "already saved" if saved.repeated else "saved"
    session.output.line(f"{OK} {again}  sha256:{saved.sha256}  {visible(saved.key)} (version {saved.version}; {size})")
    for warning in (*saved.warnings, *_lookalike(saved.key)):
        session.output.aside(f"{WARN} {warning}")
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "saved", "key": saved.key, "version": saved.version, "sha256": saved.sha256, "op": saved.op,
        "seq": saved.seq, "repeated": saved.repeated, "bytes": len(content), "characters": characters, "warnings": list(saved.warnings),
    })  # fmt: skip


def _characters(content: bytes) -> int | None:
    try:
        return len(content.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _lookalike(key: str) -> list[str]:
    shown = visible(key)
    if shown != key:
        return [f"The key holds characters that cannot be seen: {shown}"]
    if not key.isascii() and any(char.isascii() and char.isalpha() for char in key):
        import unicodedata

        scripts = {unicodedata.name(char, "?").split(" ")[0] for char in key if char.isalpha()}
        if len(scripts & {"LATIN", "CYRILLIC", "GREEK"}) > 1:
            return [f"The key mixes letters of {', '.join(sorted(scripts))}, which can look alike: {key.encode('unicode_escape').decode()}"]
    return []


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

    with common.target(session) as memory:
        try:
            before = memory.load(key)
            old, base = before.content, before.sha256
        except NotFoundError:
            old, base = b"", ""
        new, kept = edit_text(old, key, editor)
        if new == old:
            session.output.line(f"Nothing changed: {visible(key)} stays as it is")
            kept.drop()
            return
        try:
            saved = memory.save(key, new, based_on=base, reason=reason)
        except IndelibleError as error:
            error.remedy = f"Your text is kept in {kept.path}. {error.remedy}".strip()
            raise
        kept.drop()
    _say(session, saved, new)
