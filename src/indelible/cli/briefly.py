"""`boot` without click: what a waking agent waits for.

Whatever is not plainly `boot` with its options is left to the full command line, which gives the same answers through `tell`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.cli.output import BAD, OK, WARN, Output, counted, is_korean, visible
from indelible.errors import IndelibleError, UsageError

if TYPE_CHECKING:
    from indelible.boot import Briefing
    from indelible.settings import Settings

_VALUED = ("--agent", "--store", "--budget", "--characters")
_FLAGS = ("--json", "--laws")
_SAYS = {
    "booted": ("briefing verified", "브리핑 검증 통과"),
    "tampered": ("tampering found: no slot is shown, stop and tell a person", "변조 감지: 작업 중단 권고"),
    "no-state": ("there is no state directory here", "상태 디렉토리가 없음"),
    "empty-state": ("the state directory has no sealed slot", "봉인된 상태 파일이 없음"),
    "half-state": ("half a state: the governance is missing", "거버넌스 없는 반쪽 상태"),
    "over-budget": ("the laws do not fit the budget", "규칙이 예산을 넘음"),
    "unchecked": ("not checked: never to be read as verified", "검증하지 못함"),
}
"""The verdict on one line, in English and in Korean."""


def boot(arguments: list[str]) -> int | None:
    """The exit code, or None where the full command line must look."""
    asked = _parse(arguments)
    if asked is None:
        return None
    output = Output("--json" in asked)
    try:
        bounds = {name: number(asked.get(f"--{name}"), name) for name in ("budget", "characters")}
        return run(output, asked.get("--store"), asked.get("--agent"), **bounds, only_laws="--laws" in asked)
    except IndelibleError as error:
        return output.error(error)


def run(
    output: Output, store: str | None, agent: str | None, *, budget: int | None, characters: int | None, only_laws: bool
) -> int:
    """Wake, and say what came of it.

    Raises:
        UsageError: a setting is off. IndelibleError: the output could not be written.
    """
    from indelible import settings
    from indelible.boot import refused, wake

    found = None
    try:
        found = settings.load(store=store, agent=agent)
        briefing = wake(found, budget=budget, characters=characters, only_laws=only_laws)
    except UsageError:
        raise
    except IndelibleError as error:  # a state directory that is a link, a store that somebody else owns
        briefing = refused(error)
    return tell(briefing, output, found, budget)


def tell(briefing: Briefing, output: Output, settings: Settings | None, budget: int | None) -> int:
    """The verdict and the warnings on standard error, then the text on standard output, so that nothing stands behind it."""
    room = budget or (settings.boot.budget if settings is not None else 0)
    korean = is_korean()
    said = _SAYS[briefing.slug][korean]
    told = _in_korean(briefing) if korean and briefing.findings else briefing
    if briefing.exit_code == 0:
        slots = f"{len(briefing.order)}개" if korean else counted(len(briefing.order), "slot", "slots")
        output.aside(f"{OK} {said}  sha256:{briefing.digest}  ({slots}, {briefing.tokens}/{room} tokens)")
    else:
        output.aside(f"{BAD if briefing.exit_code == 2 else WARN} {said}. {visible(told.remedy)}".rstrip(". ") + ".")
    for warning in told.warnings:
        output.aside(f"{WARN} {warning}")
    if output.json:
        output.document(document(briefing, settings, room))
    else:
        output.give(briefing.text.rstrip("\n"))
    return briefing.exit_code


def _in_korean(briefing: Briefing) -> Briefing:
    """The findings of the state directory, for the person who reads standard error; the text for the agent stays as it is."""
    from indelible.state.korean import FINDINGS, FOR_HUMAN

    known = [one for one in briefing.findings if one.slug in FINDINGS]
    said = {one.text: f"{one.name}: {'. '.join(FINDINGS[one.slug])}" for one in known if not one.is_tampering}
    warnings = tuple(said.get(warning, warning) for warning in briefing.warnings)
    altered = [one for one in known if one.is_tampering]
    if not altered:
        return briefing._replace(warnings=warnings)
    named = "; ".join(f"{one.name}: {FINDINGS[one.slug][0]}" for one in altered)
    remedies = "; ".join(dict.fromkeys(FINDINGS[one.slug][1] for one in altered))
    return briefing._replace(warnings=warnings, remedy=f"{named}. {FOR_HUMAN}{remedies}")


def document(briefing: Briefing, settings: Settings | None, room: int) -> dict[str, object]:
    """The outcome as one JSON document."""
    return {
        "ok": not briefing.exit_code, "exit_code": briefing.exit_code, "slug": briefing.slug, "text": briefing.text,
        "agent": settings.agent if settings is not None else None, "namespace": briefing.namespace, "directory": briefing.directory,
        "order": list(briefing.order), "sha256": briefing.digest, "mark": briefing.mark, "tokens": briefing.tokens, "budget": room,
        "cut": [cut._asdict() for cut in briefing.cut], "findings": [finding._asdict() for finding in briefing.findings],
        "warnings": list(briefing.warnings), "remedy": briefing.remedy,
    }  # fmt: skip


def number(text: str | None, name: str) -> int | None:
    """The value of an option that counts something.

    Raises:
        UsageError: it is no number above zero.
    """
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text[:12]) < 1:
        raise UsageError(f"--{name} is not a number above zero: {text!r}", remedy=f"Say --{name} 1800, or leave it out")
    return int(text[:12])


def _parse(arguments: list[str]) -> dict[str, str] | None:
    """Options by name, a flag's value empty; None where something else is said than `boot` and its options."""
    asked: dict[str, str] = {}
    words = []
    rest = iter(arguments)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUED and (value or not equals):
            asked[name] = value if equals else next(rest, "")
        elif word in _FLAGS:
            asked[word] = ""
        else:
            words.append(word)
    missing = [name for name in _VALUED if asked.get(name) == ""]
    return asked if words == ["boot"] and not missing else None
