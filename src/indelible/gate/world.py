"""What the anchors of memories are held against, where the reader has files: `World` of context.py over a working tree."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.gate.anchors.checking import check, judge, prepare
from indelible.gate.anchors.files import Files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.gate.anchors.explaining import Explained
    from indelible.gate.context import Place
    from indelible.gate.verdict import Reason
    from indelible.record.parts import Anchor


MOMENT = 1.0
"""Seconds for which what git said about refs and commits counts for all that is judged."""


UNSEEN = frozenset({"anchor-unknown", "anchor-outside"})
"""Reasons of anchors about which nothing is known that could be approved."""


class FileWorld:
    """The working tree that a place lies in.

    Args:
        place: where the reader stands.
        environ: the environment, for facts about it and for git.
        apis: the version of each API, as the settings state it.
    """

    def __init__(self, place: Place, environ: Mapping[str, str], apis: Mapping[str, str]) -> None:
        self.files = Files(place, environ, apis)
        self._since = time.monotonic()

    def check(self, anchors: tuple[Anchor, ...]) -> tuple[Reason, ...]:
        """One reason for each that does not hold."""
        return check(anchors, self.files)

    def refresh(self) -> None:
        """Ask git anew, if it was asked more than a moment ago: a process may keep memory open while refs move."""
        self.files.forget_places()
        if time.monotonic() - self._since > MOMENT:
            self.files.forget_git()
            self._since = time.monotonic()

    def prepare(self, anchors: Iterable[Anchor]) -> None:
        """Look at many at once, before each is judged: what only git can tell is asked in one run of it."""
        prepare(anchors, self.files)

    def digest(self, anchors: tuple[Anchor, ...]) -> str:
        """SHA-256 over what each of them is now, and how it differs from what it was.

        Empty where there are none, and where one cannot be looked at here or leads outside: nothing is approved unseen.
        """
        if not anchors:
            return ""
        from indelible.gate.anchors.capturing import recapture_all

        reasons = [judge(anchor, self.files) for anchor in anchors]
        if any(reason is not None and reason.slug in UNSEEN for reason in reasons):
            return ""
        now, kept = recapture_all(anchors, self.files)
        gone = {id(anchor): words for anchor, words in kept}
        said = [
            [anchor.type, anchor.repo, anchor.path, None if id(before) in gone else anchor.value, gone.get(id(before)),
             reason.slug if reason is not None else None]
            for before, anchor, reason in zip(anchors, now, reasons, strict=True)
        ]  # fmt: skip
        return f"sha256:{sha256(json.dumps(said).encode()).hexdigest()}"

    def explain(self, anchor: Anchor, since: str | None = None) -> Explained:
        """What became of one anchor, with its history.

        Args:
            since: the commit at which it was bound, if that is known.
        """
        from indelible.gate.anchors.explaining import explain

        return explain(anchor, self.files, since)
