"""Rounds of the critic: what was judged, of which very change, and what came of it.

As each stands in `30_critic_summary.md`:

    ## Round 2: rejected
    By: mina
    Change: sha256:5f0c…64 hex digits… base 0123456789ab tree ba9876543210
    Pillars: correctness blocked (an unstable sort), architecture ok, tests blocked, security ok, performance ok, readability ok
    Blocked: ties change their order; the test does not see it
    Fixed: the tie of round 1
    Ignored: "no docs": the function is private
    Do not try again: sorting by the hash

`Blocked`, `Fixed`, `Ignored` and `Do not try again` any number of times, each on one line. A round that was written by hand
(`## Round 1: rejected`, and whatever below) is read as one without a change, and is never current.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

APPROVED, REJECTED = "approved", "rejected"
VERDICTS = (APPROVED, REJECTED)
STALE, NONE = "stale", "none"
OK, BLOCKED = "ok", "blocked"
PILLARS = ("correctness", "architecture", "tests", "security", "performance", "readability")
"""By what a critic judges where the workflow does not say: the seed has six, and names none."""
PERSON = ", a person"
"""How the name ends of who said no by 'indelible reject'. A critic that calls itself so only refuses more."""
POINT = 1_000
"""Characters of one point."""
SHORT = 12
"""Hex digits of a commit or a tree that a round tells; the digest, which is whole, covers both."""
MOST = 50
"""Points of one kind in one round."""
_HEADING = re.compile(r"^## +Round +(\d{1,6})\b[ :.-]*(.*)$", re.MULTILINE)
_OF_FILE = re.compile(r"^## +Round\b(?: +\d{1,6}\b)?[ :.-]*(.*)$", re.MULTILINE)
_CHANGE = re.compile(r"sha256:([0-9a-f]{64}) base ([0-9a-f]{12}|-) tree ([0-9a-f]{12})")
_PILLAR = re.compile(r"([a-z][a-z0-9-]{0,39}) (ok|blocked)(?: \(([^()]*)\))?")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_POINTS = {"Blocked": "blocked", "Fixed": "fixed", "Ignored": "ignored", "Do not try again": "never"}


class Pillar(NamedTuple):
    """What came of one of the things that are looked at."""

    name: str
    verdict: str
    note: str = ""


class Round(NamedTuple):
    """One round. Everything but its number and verdict may be empty in one that was written by hand."""

    number: int
    verdict: str
    """`approved`, `rejected`; whatever stood there by hand, in one that was."""
    critic: str = ""
    digest: str = ""
    """Of the change that was looked at, 64 hex digits; empty where nothing says which it was."""
    base: str = ""
    """The first 12 digits of the commit that the change begins at; `-` for none."""
    tree: str = ""
    pillars: tuple[Pillar, ...] = ()
    blocked: tuple[str, ...] = ()
    """What has to be mended first."""
    fixed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """False alarms, each with the reason why it is one."""
    never: tuple[str, ...] = ()
    """What is not to be tried again."""

    @property
    def open(self) -> tuple[str, ...]:
        """What it leaves blocked: one that was written by hand may approve and block at once."""
        return (*self.blocked, *(one.name for one in self.pillars if one.verdict == BLOCKED))

    @property
    def is_persons(self) -> bool:
        """Whether it was written down as a person's word."""
        return self.critic.endswith(PERSON)

    @property
    def is_approved(self) -> bool:
        """Whether it approves its change, and leaves nothing blocked."""
        return self.verdict == APPROVED and not self.open


def check_round(found: Round, pillars: Sequence[str] = PILLARS) -> Round:
    """The round, if it can be written down.

    Args:
        pillars: what has to be judged.

    Raises:
        UsageError: a pillar has no verdict, or the verdict does not follow from what is said.
    """
    if found.verdict not in VERDICTS:
        raise UsageError(f"{found.verdict!r} is no verdict of a round", remedy=f"Use one of {', '.join(VERDICTS)}")
    _check_pillars(found, pillars)
    if found.verdict == APPROVED and found.open:
        raise UsageError(
            f"The round would approve what is blocked: {found.open[0]}",
            remedy="Say --fixed for what was mended and --ignored for what is none, or --verdict rejected",
        )
    if found.verdict == REJECTED and not found.open:
        raise UsageError(
            "The round rejects the change and does not say why",
            remedy="Say --blocked TEXT, or --pillar NAME=blocked:NOTE",
        )
    for label, name in _POINTS.items():
        row = getattr(found, name)
        if len(row) > MOST:
            raise UsageError(
                f"The round has {len(row)} points of {label!r}; the limit is {MOST}", remedy="Put some together"
            )
        for text in row:
            _check_line(label, text)
    if found.critic:
        _check_line("critic's name", found.critic)
    return found


def _check_pillars(found: Round, pillars: Sequence[str]) -> None:
    named = [one.name for one in found.pillars]
    if missing := [name for name in pillars if name not in named]:
        raise UsageError(
            f"The round says nothing of {', '.join(missing)}",
            remedy=f"Each has a verdict: --pillar {missing[0]}=ok, or =blocked:NOTE",
        )
    if unknown := [name for name in named if name not in pillars]:
        raise UsageError(f"{unknown[0]!r} is no pillar here", remedy=f"They are {', '.join(pillars)}")
    if len(set(named)) < len(named):
        raise UsageError("The round judges one pillar twice", remedy="Say each once")
    for one in found.pillars:
        if one.verdict not in (OK, BLOCKED):
            raise UsageError(f"{one.verdict!r} is no verdict on a pillar", remedy="Say ok or blocked")
        if one.note:
            _check_line("note on a pillar", one.note)
            if "(" in one.note or ")" in one.note:
                raise UsageError(f"The note on {one.name} has a round bracket in it", remedy="Leave brackets out")


def _check_line(what: str, text: str) -> None:
    if not text or text != text.strip() or not text.isprintable() or len(text) > POINT:
        raise UsageError(
            f"A text of the round ({what}) is not one line of plain text of at most {POINT} characters",
            remedy="Leave newlines and control characters out, and say it shorter",
        )


def format_round(found: Round) -> bytes:
    """The text that is appended."""
    lines = [f"## Round {found.number}: {found.verdict}"]
    lines += [f"By: {found.critic}"] if found.critic else []
    lines += [f"Change: sha256:{found.digest} base {found.base or '-'} tree {found.tree}"] if found.digest else []
    lines += [f"Pillars: {', '.join(map(_pillar, found.pillars))}"] if found.pillars else []
    lines += [f"{label}: {text}" for label, name in _POINTS.items() for text in getattr(found, name)]
    return ("\n".join(lines) + "\n").encode()


def _pillar(one: Pillar) -> str:
    return f"{one.name} {one.verdict}" + (f" ({one.note})" if one.note else "")


def parse_rounds(content: bytes) -> tuple[Round, ...]:
    """Every round of a text, in its order. Nothing is refused: what was written by hand is read as far as it goes."""
    text = content.decode("utf-8", "replace")
    heads = list(_HEADING.finditer(text))
    ends = (*(head.start() for head in heads[1:]), len(text))
    return tuple(_round(int(head[1]), head[2], text[head.end() : ends[at]]) for at, head in enumerate(heads))


def parse_one(content: bytes) -> Round:
    """The one round of a file that is to be added: number and change are not its to say, and its heading may be left out.

    Raises:
        UsageError: there is more than one in it.
    """
    text = content.decode("utf-8", "replace")
    heads = list(_OF_FILE.finditer(text))
    if len(heads) > 1:
        raise UsageError(
            f"The file has {len(heads)} rounds, and one is added at a time", remedy="It begins '## Round: rejected'"
        )
    found = _round(0, heads[0][1], text[heads[0].end() :]) if heads else _round(0, "", text)
    return found._replace(digest="", base="", tree="")


def _round(number: int, said_verdict: str, body: str) -> Round:
    said = dict[str, list[str]]()
    for line in body.splitlines():
        label, colon, value = line.partition(": ")
        if colon and value.strip():
            said.setdefault(label, []).append(value.strip())
    verdict = said_verdict.strip().lower().partition(" ")[0].rstrip(".,;:")
    points = [tuple(said.get(label, ())) for label in _POINTS]
    found = Round(number, verdict, _first(said, "By"), "", "", "", (), *points)
    pillars = tuple(Pillar(one[1], one[2], one[3] or "") for one in _PILLAR.finditer(_first(said, "Pillars")))
    bound = _CHANGE.fullmatch(_first(said, "Change"))
    if bound is None or len(said["Change"]) > 1:
        return found._replace(pillars=pillars)
    return found._replace(digest=bound[1], base=bound[2], tree=bound[3], pillars=pillars)


def _first(said: dict[str, list[str]], label: str) -> str:
    return said.get(label, [""])[0]


def next_number(content: bytes) -> int:
    """The number of the round that would be appended to a text."""
    return max((one.number for one in parse_rounds(content)), default=0) + 1


def parse_pillar(text: str) -> Pillar:
    """`name=ok`, `name=blocked` or `name=blocked:why`, as the command line has it.

    Raises:
        UsageError: it is none of these.
    """
    name, equals, rest = text.partition("=")
    verdict, _, note = rest.partition(":")
    if not equals or not _NAME.fullmatch(name) or verdict not in (OK, BLOCKED):
        raise UsageError(f"{text!r} is no verdict on a pillar", remedy="Say NAME=ok, or NAME=blocked:NOTE")
    return Pillar(name, verdict, " ".join(note.split()))


def deciding(rounds: Iterable[Round], digest: str) -> Round | None:
    """The round that counts for a change: the last one; but a person's no to that very change stands until it is another change."""
    all_ = tuple(rounds)
    refused = [one for one in all_ if digest and one.digest == digest and one.is_persons and one.verdict == REJECTED]
    return refused[-1] if refused else all_[-1] if all_ else None


def standing(rounds: Iterable[Round], digest: str) -> str:
    """What the last round says of a change: `approved`, `rejected`; `stale` where it was of another change; `none` where there is none.

    Args:
        digest: of the change as it is now, 64 hex digits.
    """
    last = deciding(rounds, digest)
    if last is None:
        return NONE
    if not digest or last.digest != digest:
        return STALE
    return APPROVED if last.is_approved else REJECTED
