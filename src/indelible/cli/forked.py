"""A run that has ended, for whoever asked: sealed, told in a few lines, shown in parts, taken away."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from indelible.cli.output import BAD, OK, WARN, counted, visible
from indelible.errors import IndelibleError, IntegrityError, NotFoundError, NotSaved, UsageError
from indelible.forking.run import ESTIMATE, EXITED, REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.output import Output
    from indelible.forking.run import Run
    from indelible.settings import Settings

_SPAN = re.compile(r"([0-9]{0,12})-([0-9]{0,12})")


class NotSealed(NotSaved):
    """A fork ended, and its record could not be sealed yet."""

    slug = "fork-not-sealed"
    remedy = "Its output and its record are on the disk; the next 'indelible forks' or 'indelible wait' seals them"


def seal(settings: Settings, folder: str, run: Run) -> tuple[Run, IndelibleError | None]:
    """Seal a run that has ended; gives what kept it from being sealed, where something did.

    Returns:
        An IntegrityError where the store is not what was sealed, so that nothing is built on it.
    """
    from indelible import wiring
    from indelible.forking import places
    from indelible.stepping import forks

    if run.sealed is not None:
        return run, None
    try:
        with wiring.open_memory(settings, door="fork") as memory:
            saved = forks.seal(memory, run)
            first = forks.sealed(memory, run.id) if saved.repeated else run
            run = first._replace(sealed=saved.seq, supervisor=run.supervisor, child=run.child)
    except IntegrityError as error:
        return run, error
    except NotFoundError:
        words = f"Nothing was sealed: there is no memory here ({settings.store})"
        return run, NotSealed(words, remedy="'indelible init' makes one; the output and its record are on the disk")
    except IndelibleError as error:
        return run, NotSealed(f"Nothing was sealed: {error.message}")
    try:
        places.keep(folder, run)
    except NotSaved as error:
        return run, error
    return run, None


def failed(run: Run) -> bool:
    """Whether it has ended otherwise than well."""
    return run.is_over and not run.succeeded


def how(run: Run) -> str:
    """`exit 0`, or why it ended otherwise."""
    words = REASONS.get(run.reason, run.reason)
    code = f"exit {run.exit}" if run.exit is not None else run.signal
    if run.reason == EXITED:
        return code
    return ", ".join(filter(None, (words, code, run.detail)))


def tell(output: Output, run: Run, warning: IndelibleError | None) -> int:
    """Print a run's summary and how it ended; gives the exit code: 0 where it ended with 0, 2 where the store is not as sealed, else 1.

    The child's own lines stand behind a bar, so that none of them passes for one of ours.
    """
    for line in run.summary:
        output.line(f"| {line}")
    if run.omitted:
        where = "more lines" if run.is_result else "lines before these"
        output.line(f"| … {run.omitted} {where}: indelible forks show {run.id}")
    output.line(f"{OK if run.succeeded else BAD} {run.id}  {visible(how(run))}  {_measures(run)}")
    if run.killed or run.left:
        output.line(f"{WARN} {_leftovers(run)}")
    if warning is not None:
        output.aside(f"{BAD if isinstance(warning, IntegrityError) else WARN} {warning}")
    if isinstance(warning, IntegrityError):
        return warning.exit_code
    return int(not run.succeeded)


def _slug(run: Run) -> str:
    return "child-failed" if run.reason == EXITED and run.exit else run.reason or "running"


def tell_document(folder: str, run: Run, warning: IndelibleError | None, code: int) -> dict[str, object]:
    """One run for `--json`."""
    from indelible.forking.run import to_document

    members = to_document(run)
    members.pop("format")
    return {
        **members, "ok": not code, "exit_code": code, "slug": _slug(run), "fork": run.id,
        "folder": os.path.join(folder, run.id), "key": f"flow/fork/{run.id}" if run.sealed is not None else None,
        "warnings": [str(warning)] if warning is not None else [],
    }  # fmt: skip


def _measures(run: Run) -> str:
    parts = [f"{run.milliseconds / 1000:.1f} s"]
    if run.output is not None:
        parts = [f"sha256:{run.output.sha256}", counted(run.output.size, "byte", "bytes"), counted(run.output.lines, "line", "lines"), *parts]  # fmt: skip
    if run.errors is not None:
        parts.append(f"errors sha256:{run.errors.sha256}, {counted(run.errors.size, 'byte', 'bytes')}")
    if (tokens := run.tokens) is not None:
        parts.append(
            f"about {tokens.output} tokens of output (estimate)" if tokens.source == ESTIMATE
            else f"{tokens.input} tokens read ({tokens.cached} cached), {tokens.output} written, says {tokens.source}"
        )  # fmt: skip
    return "  ".join((parts[0], f"({', '.join(parts[1:])})"))


def _leftovers(run: Run) -> str:
    words = f"{counted(run.killed, 'process', 'processes')} that it left behind ended with it" if run.killed else ""
    left = f"could not be ended: {', '.join(map(str, run.left))}" if run.left else ""
    return "; ".join(filter(None, (words, left)))


def span_of(text: str | None) -> tuple[int, int | None]:
    """First and last line that an option names, counted from 1.

    Raises:
        UsageError: it names none.
    """
    if text is None:
        return 1, None
    found = _SPAN.fullmatch(text)
    if found is None or text == "-":
        if not text.isdigit():
            raise UsageError(f"{text[:40]!r} names no lines", remedy="Say 20-40, 20- or -40")
        return int(text), int(text)
    return int(found[1] or 1), int(found[2]) if found[2] else None


def lines_of(path: str, span: tuple[int, int | None], pattern: str | None) -> Iterator[bytes]:
    """Lines of a file, with their ends; in a span and with a match where those are asked for.

    Raises:
        UsageError: the pattern is no regular expression. IndelibleError: the file cannot be read.
    """
    first, last = span
    try:
        wanted = re.compile((pattern or "").encode("utf-8", "surrogateescape"))
    except re.error as exc:
        raise UsageError(f"--grep is no regular expression: {exc}") from exc
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if last is not None and number > last:
                    return
                if number >= first and (pattern is None or wanted.search(line.rstrip(b"\r\n"))):
                    yield line
    except OSError as exc:
        raise IndelibleError(f"{path} cannot be read ({exc.strerror})") from exc


def taken_away(settings: Settings, folder: str, run: Run, at: str) -> IndelibleError | None:
    """Take a run's output away, after that was sealed; gives what kept it from being done."""
    from indelible.forking import finding

    if run.sealed is None:
        finding.take_away(folder, run, whole=True)
        return None
    if problem := _altered(settings, folder, run):
        return problem
    gone, warning = seal(settings, folder, run._replace(cleaned=at, sealed=None))
    if gone.sealed is None:
        return warning
    finding.take_away(folder, gone, whole=False)
    return None


def _altered(settings: Settings, folder: str, run: Run) -> IndelibleError | None:
    """What is wrong with an output by what was sealed of it: a finding that is taken away is found by nobody any more."""
    from indelible import wiring
    from indelible.stepping import forks

    try:
        with wiring.open_memory(settings, door="forks") as memory:
            forks.verify(memory, folder, run.id)
    except IndelibleError as error:
        return error
    return None
