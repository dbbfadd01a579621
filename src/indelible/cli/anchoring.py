"""What a save says of what the memory depends on (`--anchor`, `--depends-on`), and where the text was written."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from indelible.cli import common
from indelible.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory
    from indelible.record import Anchor, Link, Record
    from indelible.settings import Settings

DEPENDS_ON = "depends_on"
_SHOWN = 10
"""Anchors that are named on standard error; `--json` has them all."""


class Wanted(NamedTuple):
    """The options of one save."""

    anchors: tuple[str, ...] = ()
    anchor_auto: bool = False
    no_anchors: bool = False
    depends_on: tuple[str, ...] = ()
    no_depends_on: bool = False


def anchor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what a memory depends on outside of itself."""
    options = (
        click.option(
            "--anchor",
            "anchors",
            metavar="TEXT",
            multiple=True,
            help="What it depends on, as it is now: PATH, PATH#member, commit:REV, ref:NAME, package:NAME, env:NAME, api:NAME. Any number of times.",
        ),
        click.option("--anchor-auto", is_flag=True, help="Anchor the files of this repository that the text names."),
        click.option(
            "--no-anchors", is_flag=True, help="Depend on nothing any more. [the anchors before, as they are now]"
        ),
        click.option(
            "--depends-on",
            metavar="KEY",
            multiple=True,
            shell_complete=common.complete_key,
            help="A memory that this one stands on: where that is held, so is this. Any number of times.",
        ),
        click.option("--no-depends-on", is_flag=True, help="Stand on no other memory any more."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def take(said: dict[str, Any]) -> Wanted:
    """Take the options out of all those of a save.

    Raises:
        UsageError: two of them contradict one another.
    """
    wanted = Wanted(**{name: said.pop(name) for name in Wanted._fields})
    if wanted.no_anchors and (wanted.anchors or wanted.anchor_auto):
        raise UsageError("--no-anchors and --anchor contradict one another", remedy="Say one of them")
    if wanted.no_depends_on and wanted.depends_on:
        raise UsageError("--no-depends-on and --depends-on contradict one another", remedy="Say one of them")
    return wanted


class Anchoring:
    """The anchors and links of one save. What is captured is captured here, before a store is opened.

    Args:
        settings: For the versions of APIs.
        wanted: What the save says.
        text: What is saved, for the paths that it names.
    """

    def __init__(self, settings: Settings, wanted: Wanted, text: bytes) -> None:
        from indelible.gate.anchors.files import Files
        from indelible.gate.place import GitPlace
        from indelible.record import Origin

        here = os.path.realpath(os.getcwd())
        place = GitPlace(here, os.environ)
        self._written = Origin(repo=place.repo, branch=place.branch, commit=place.revision)
        self._files = Files(place, os.environ, settings.apis)
        self._wanted = wanted
        self._targets: tuple[tuple[str, str], ...] | None = () if wanted.no_depends_on else None
        self.warnings: list[str] = []
        self.recorded: tuple[Anchor, ...] | None = None
        """What was put into the record; None while none was made."""
        self._stated = self._capture(here, text)

    def depend(self, memory: Memory, key: str) -> None:
        """Look up the memories that the one under `key` is to stand on.

        Raises:
            NotFoundError: one of them is not there. UsageError: it would stand on itself, or the server keeps no such thing.
        """
        from indelible.cli.plainly import PlainTarget

        wanted, target = self._wanted, cast("object", memory)
        if (self._stated or wanted.depends_on) and isinstance(target, PlainTarget):
            raise UsageError(
                "A plain Memory API keeps no anchors and no links",
                remedy="Leave --anchor and --depends-on out, or save to a server of ours or a local store",
            )
        if key in wanted.depends_on:
            raise UsageError(f"{key!r} would depend on itself", remedy="Name another memory with --depends-on")
        if wanted.depends_on:
            self._targets = tuple((_id_of(memory, other), other) for other in dict.fromkeys(wanted.depends_on))

    def put(self, record: Record) -> Record:
        """The record with where it was written, its anchors and its links."""
        before = record.validity.anchors
        anchors = self._again(before) if self._stated is None else self._stated
        self.recorded = anchors
        if anchors != before:
            record = replace(record, validity=replace(record.validity, anchors=anchors))
        if self._targets is not None:
            record = replace(record, links=(*_others(record), *(_link(*target) for target in self._targets)))
        here = self._written
        return replace(record, origin=replace(record.origin, repo=here.repo, branch=here.branch, commit=here.commit))

    def lines(self) -> list[str]:
        """What is said of the anchors on standard error."""
        if not self.recorded:
            return []
        names = [_name(anchor) for anchor in self.recorded]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return [f"Anchored to {len(names)}: {', '.join(names[:_SHOWN])}{more}"]

    def document(self) -> dict[str, object]:
        """The same for a program; nothing where no record was made."""
        if self.recorded is None:
            return {}
        fields = ("type", "repo", "path", "value")
        return {
            "anchors": [
                {name: said for name in fields if (said := getattr(anchor, name)) is not None}
                for anchor in self.recorded
            ]
        }

    def _capture(self, here: str, text: bytes) -> tuple[Anchor, ...] | None:
        wanted = self._wanted
        if not (wanted.anchors or wanted.anchor_auto):
            return () if wanted.no_anchors else None
        from indelible.gate.anchors.capturing import capture

        found = [anchor for said in wanted.anchors for anchor in capture(said, self._files, here)]
        if wanted.anchor_auto:
            found += self._named(here, text)
        return tuple(dict.fromkeys(found))

    def _named(self, here: str, text: bytes) -> list[Anchor]:
        from indelible.gate.anchors.mentions import find_paths
        from indelible.gate.anchors.naming_paths import capture_files

        paths = find_paths(text.decode("utf-8", "replace"), self._files, here)
        if not paths:
            self.warnings.append("The text names no file of this repository: --anchor-auto found nothing")
        return list(capture_files(paths, self._files))

    def _again(self, before: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        """The anchors of the version before, as they are now: the text is saved now. What is gone stays as it was bound."""
        if not before:
            return ()
        from indelible.gate.anchors.capturing import recapture_all
        from indelible.gate.anchors.checking import name_of

        now, kept = recapture_all(before, self._files)
        self.warnings += [
            f"{name_of(anchor)} stays as it was bound ({why}); see --anchor and --no-anchors" for anchor, why in kept
        ]
        return now


def _id_of(memory: Memory, key: str) -> str:
    loaded = memory.fetch(key)
    if loaded.finding is not None:
        raise loaded.finding  # nothing is built upon a log that cannot be followed
    return loaded.record.id


def _others(record: Record) -> tuple[Link, ...]:
    return tuple(link for link in record.links if link.rel != DEPENDS_ON)


def _link(target: str, key: str) -> Link:
    from indelible.gate.subject import BY_KEY
    from indelible.record import Link

    return Link(DEPENDS_ON, target, BY_KEY + key)


def _name(anchor: Anchor) -> str:
    """An anchor in few words."""
    if anchor.type == "package":
        return f"{anchor.value} ({anchor.path})"
    return anchor.path or f"{anchor.type} {anchor.value[:12]}"
