"""similarity."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import BAD, OK, WARN, counted, shown, visible
from indelible.errors import IndelibleError, IntegrityError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indelible.cli.output import Output
    from indelible.cli.session import Session
    from indelible.comparing import Compared, Passage, Place, Report
    from indelible.comparing.crossing import Crossings
    from indelible.recall.ngrams import Embed
    from indelible.settings import Settings

ROWS = 30
"""Pairs that a terminal shows: those in alarm, and then the most alike."""
_SHOWN = 400
"""Characters of a passage that a terminal shows."""
_BANDS = {
    "nearly-the-same": "nearly the same",
    "between": "between",
    "separate": "separate roles",
    "not-calibrated": "",
}
_TWO = 2


def _complete_agents(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Agents of the local store; behind a comma, the next one. None rather than an error."""
    from indelible import settings
    from indelible.comparing.gathering import agents_of

    before, comma, last = incomplete.rpartition(",")
    try:
        found = settings.load(store=ctx.find_root().params.get("store"))
        names = () if found.remote else agents_of(found)
    except IndelibleError:
        return []
    taken = before.split(",")
    return [
        f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in taken and name.isprintable()
    ]


@click.command()
@click.option(
    "--agents", "named", metavar="A,B,…", multiple=True, shell_complete=_complete_agents,
    help="Only these; any number of times. [all of the store]",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw heat maps and a time line into FILE.svg or FILE.png.")
@click.option(
    "--passages", type=click.IntRange(0), default=5, show_default=True, metavar="N",
    help="Passages of each pair that are named; of a pair in alarm four times as many.",
)  # fmt: skip
@click.option(
    "--embedder",
    "by_meaning",
    is_flag=True,
    help="Compare by the embedder that is set, and not by n-grams: slower, and a past of its own.",
)
@click.option("--fail-on-alarm", is_flag=True, help="Exit 1 where a pair has risen above its own past.")
@click.pass_obj
def similarity(
    session: Session, *, named: tuple[str, ...], plot: str | None, passages: int, by_meaning: bool, fail_on_alarm: bool
) -> int:
    """Say how alike the memories of the store's agents are, and raise an alarm where two have become more so than they ever were.

    Each memory is verified first. The passages that two agents share are named, with who had them first.
    """
    from indelible.comparing import compare
    from indelible.comparing.picture import encode, kind_of, require
    from indelible.settings import now

    output, settings = session.output, common.settings_of(session)
    kind = ""
    if plot is not None:
        kind = kind_of(plot)
        require(kind)
    said: list[str] = []

    def show(crossings: Crossings, report: Report) -> None:
        if not output.json:
            said.extend(_passages(crossings, report))

    with common.progress(output, "Comparing") as advance, _embedder(settings, by_meaning=by_meaning) as (embed, name):
        report = compare(
            settings,
            _split(named),
            now=now(),
            embed=embed,
            embedder=name,
            passages=passages,
            advance=advance,
            show=show,
        )
    if plot is not None:
        from indelible.cli.outputs import write_output
        from indelible.comparing.drawing import draw

        write_output(settings, plot, encode(draw(report), kind), mode=0o644)
    code = _code(report, fail_on_alarm=fail_on_alarm)
    if not output.json:
        _tell(output, report, said, plot)
    output.document({
        "ok": not code, "exit_code": code,
        "slug": "tampered" if report.findings else "partly" if report.unread else "alarm" if report.alarmed else "alone" if len(report.sides) < _TWO else "compared",
        "plot": plot, **report.as_dict(),
    })  # fmt: skip
    return code


@contextmanager
def _embedder(settings: Settings, *, by_meaning: bool) -> Iterator[tuple[Embed | None, str]]:
    """What makes the vectors, and its name and size; nothing where n-grams do.

    Raises:
        UsageError: no embedder is set. EmbedderFailed: it is not to be had.
    """
    if not by_meaning:
        yield None, ""
        return
    from indelible.wiring import embedder

    chosen = embedder(settings)
    maker = chosen.maker
    if not maker.size:
        raise UsageError("No embedder is set", remedy="Name one in INDELIBLE_EMBEDDER, or leave --embedder out")
    try:
        yield chosen.embed, f"{maker.name}/{maker.size}"
    finally:
        chosen.close()


def _split(named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for some in named for name in some.split(",") if name)


def _code(report: Report, *, fail_on_alarm: bool) -> int:
    if report.findings:
        return IntegrityError.exit_code
    return int(bool(report.unread) or (fail_on_alarm and bool(report.alarmed)))


def _tell(output: Output, report: Report, said: list[str], plot: str | None) -> None:
    for finding in report.findings:
        output.aside(f"{BAD} {_owner(finding)}{visible(str(finding))}")
    for agent, error in report.unread:
        output.aside(f"{WARN} {shown(agent)} was not compared: {visible(str(error))}")
    for problem in report.problems:
        output.aside(f"{WARN} {visible(problem)}")
    if len(report.sides) < _TWO:
        output.line(_alone(report))
    else:
        _table(output, report)
    for line in said:
        output.line(line)
    if plot is not None:
        output.line(f"{OK} drawn: {visible(plot)}")


def _alone(report: Report) -> str:
    if report.unread:
        return "Fewer than two agents could be read, so nothing was compared"
    return (
        "One agent was named or is here, and it takes two to compare: leave --agents out for all of the store"
        if report.sides
        else "There is no agent here"
    )


def _owner(finding: IntegrityError) -> str:
    agent = finding.facts.get("agent")
    return f"{shown(agent)}: " if isinstance(agent, str) else ""


def _table(output: Output, report: Report) -> None:
    memories = counted(sum(one.memories for one in report.sides), "memory", "memories")
    scale = report.calibration
    output.line(
        f"{len(report.sides)} agents, {memories}; vectors: {visible(report.vectors)}, {'centred' if report.centred else 'not centred: that takes three agents'}"
    )
    output.line(
        f"Not calibrated: {scale.problem}" if scale.problem
        else f"Calibrated: halves of one agent have a cosine of {scale.same:.2f} (here 0.9), different agents {scale.separate:.2f} (here 0.3)"
    )  # fmt: skip
    for side in report.sides:
        if not side.words:
            output.line(f"{shown(side.agent)} has no words to compare")
    ordered = sorted(
        report.compared,
        key=lambda one: (not one.alarms, -(one.pair.cosine or 0), -max(one.pair.a_in_b, one.pair.b_in_a)),
    )
    for one in ordered[:ROWS]:
        output.line(_row(one))
    if len(ordered) > ROWS:
        output.line(f"and {len(ordered) - ROWS} pairs more, which --json has")
    if not any(level.runs for one in report.compared for level in one.past):
        output.line("There is no past yet to hold this against: alarms begin with the next change")


def _row(one: Compared) -> str:
    pair = one.pair
    cosine = "–" if pair.cosine is None else f"{pair.cosine:.2f}"
    likeness = "" if one.likeness is None else f"likeness {one.likeness:.2f} ({_BANDS[one.band]}), "
    a, b = shown(pair.a), shown(pair.b)
    return (
        f"{WARN if one.alarms else ' '} {a} · {b}: {likeness}cosine {cosine}; "
        f"{100 * pair.a_in_b:.1f} % of {a} stands in {b}, {100 * pair.b_in_a:.1f} % of {b} in {a}"
    )


def _passages(crossings: Crossings, report: Report) -> list[str]:
    """The alarms and the passages of each pair, in alarm first, as lines for a terminal."""
    lines = []
    for one in sorted(report.compared, key=lambda one: not one.alarms)[:ROWS]:
        if not (one.alarms or one.passages):
            continue
        lines.append(f"{shown(one.pair.a)} · {shown(one.pair.b)}:")
        lines += [f"{WARN} {_alarm(one, alarm.measure)}" for alarm in one.alarms]
        for passage in one.passages:
            lines += _passage(crossings, passage)
        if one.left_out:
            lines.append(f"   and {counted(one.left_out, 'passage', 'passages')} more")
    return lines


def _alarm(one: Compared, measure: str) -> str:
    found = next(alarm for alarm in one.alarms if alarm.measure == measure)
    a, b = shown(one.pair.a), shown(one.pair.b)
    past = f"its past: median {{}} of {counted(found.level.runs, 'run', 'runs')}, limit {{}}"
    if measure == "cosine":
        return f"their likeness rose: cosine {found.value:.3f} ({past.format(f'{found.level.median:.3f}', f'{found.level.limit:.3f}')})"
    inner, outer = (a, b) if measure == "a_in_b" else (b, a)
    told = past.format(f"{100 * (found.level.median or 0):.1f} %", f"{100 * (found.level.limit or 0):.1f} %")
    return f"the part of {inner} that stands in {outer} jumped to {100 * found.value:.1f} % ({told})"


def _passage(crossings: Crossings, passage: Passage) -> list[str]:
    first = f"{shown(passage.first)} had it first" if passage.first else "both had it at the same time"
    lines = [f"   {passage.words} words; {first}"]
    lines += [f"     {_where(place)}" for place in (passage.a, passage.b)]
    try:
        text = crossings.text(passage)
    except IndelibleError as error:
        return [*lines, f"     {visible(str(error))}"]
    if text is None:
        return [*lines, "     (not shown: both memories are held)"]
    words = " ".join(text.decode("utf-8", "replace").split())
    return [*lines, f"     “{visible(words[:_SHOWN])}{'…' if len(words) > _SHOWN else ''}”"]


def _where(place: Place) -> str:
    since = f"since version {place.first_version}, {place.since}"
    return f"{shown(place.agent)} {shown(place.key)} version {place.version}, byte {place.offset}, {place.length} bytes; there {since}"
