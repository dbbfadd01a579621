"""A segment: many rows that no longer change, as arrays in one file.

    digest = build(path, rows, head)
    segment = Segment.open(path, digest, head)

New rows go into new segments; several are made one by `merge`, which reads no text. A file is checked whole when it is opened;
one that is small is then held in memory, one that is large stays mapped, and is looked at again before each use, so that one
that was cut or written to since is an error and not a wrong answer.
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from indelible import files
from indelible.errors import IndexDamaged
from indelible.recall import layout, merging
from indelible.recall.columns import BUCKETS, columns_of, labels_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from indelible.recall.columns import Array, Columns
    from indelible.recall.row import Row

CHUNK = 20_000
"""Rows that are in memory at once while a segment is built."""


class Segment:
    """Rows, opened to be asked."""

    def __init__(
        self, columns: Columns, head: Mapping[str, str], *, path: str = "", stamp: tuple[int, ...] = ()
    ) -> None:
        self.columns = columns
        """The arrays; see `columns.Columns`."""
        self.head = dict(head)
        """What it was written with."""
        self._path, self._stamp = path, stamp
        self._labels = {label: place for place, label in enumerate(labels_of(columns))}

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Segment:
        """A segment in memory: for the rows that are in no file yet.

        Raises:
            UsageError: as `columns_of`.
        """
        return cls(columns_of(rows), {})

    @classmethod
    def open(cls, path: str, digest: str, head: Mapping[str, str], *, mapped: bool | None = None) -> Segment:
        """A segment in a file, every byte of which is checked; `mapped` as of `layout.read`.

        Raises:
            IndexDamaged: it is missing, cut, altered, another one, or was written with another head.
        """
        opened = layout.read(path, digest, head, mapped=mapped)
        watched = (path, opened.stamp) if opened.mapped else ("", ())
        return cls(opened.columns, opened.facts, path=watched[0], stamp=watched[1])

    def __len__(self) -> int:
        return len(self.columns.seqs)

    @property
    def rows(self) -> int:
        """How many documents it has."""
        return len(self.columns.seqs)

    @cached_property
    def gram_counts(self) -> Array:
        """(65536,) i64: in how many documents each bucket of grams is."""
        if len(self.columns.gram_counts):
            return self.columns.gram_counts.astype(np.int64)
        return np.bincount(self.columns.grams, minlength=BUCKETS)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that its documents have, ascending by their bytes."""
        return tuple(label.decode("utf-8", "surrogatepass") for label in self._labels)

    def check(self) -> None:
        """That a mapped file is still the one that was checked; costs one `stat`.

        Raises:
            IndexDamaged: it was cut, written to, replaced or taken away.
        """
        if not self._path:
            return
        try:
            stamp = layout.stamp_of(os.stat(self._path))
        except OSError as exc:
            raise IndexDamaged(f"A file of the index is gone ({exc.strerror})", file=self._path) from exc
        if stamp != self._stamp:
            raise IndexDamaged("A file of the index was changed while it was in use", file=self._path)

    def close(self) -> None:
        """Let go of the file; it is empty from now on. What still asks an `Index` made of it keeps it open."""
        self.columns = columns_of(())
        self._path, self._labels = "", {}

    def holds(self, seqs: Collection[int]) -> bool:
        """Whether any of these is in here."""
        return len(self.docs_of(np.array(sorted(seqs), "<u8"))) > 0

    def outside(self, seqs: Array) -> Array:
        """(n,) bool: the documents that are none of the ascending `seqs`."""
        mask = np.ones(len(self), np.bool_)
        mask[self.docs_of(seqs)] = False
        return mask

    def docs_of(self, seqs: Array) -> Array:
        """The documents of those of the ascending `seqs` that are in here, ascending."""
        if not len(self):
            return np.zeros(0, np.int64)
        place = np.searchsorted(self.columns.seqs, seqs)
        place = np.minimum(place, len(self) - 1)
        found: Array = place[self.columns.seqs[place] == seqs]
        return found

    def labelled(self, label: str) -> Array:
        """The documents with a label, ascending within what was merged."""
        place = self._labels.get(label.encode("utf-8", "surrogatepass"))
        if place is None:
            return np.zeros(0, "<u4")
        start, end = self.columns.label_at[place : place + 2].tolist()
        docs: Array = self.columns.label_docs[start:end]
        return docs


def build(path: str, rows: Iterable[Row], head: Mapping[str, str], *, chunk: int = CHUNK) -> str:
    """Write rows, in whatever order and however many, as one segment; gives its digest.

    Raises:
        UsageError: as `columns_of`. NotSaved, DiskFull, ReadOnly: it could not be written.
    """
    coming = iter(rows)
    first = columns_of(islice(coming, chunk))
    second = list(islice(coming, chunk))
    if not second:
        return layout.write(path, first, head)
    return _build_in_parts(path, first, second, coming, head, chunk)


def _build_in_parts(
    path: str, first: Columns, second: list[Row], coming: Iterable[Row], head: Mapping[str, str], chunk: int
) -> str:
    """By way of small segments beside the place, which are merged and taken away."""
    parts: list[tuple[str, str]] = []

    def spill(columns: Columns) -> None:
        name = f"{path}.part{len(parts)}"
        parts.append((name, layout.write(name, columns, {})))

    try:
        spill(first)
        while second:
            spill(columns_of(second))
            second = list(islice(coming, chunk))
        opened = [Segment.open(name, digest, {}, mapped=True) for name, digest in parts]
        return merge(path, opened, head)[0]
    finally:
        for name, _ in parts:
            files.remove(name)


def merge(
    path: str, segments: Sequence[Segment], head: Mapping[str, str], *, without: Collection[int] = ()
) -> tuple[str, int]:
    """Write segments as one; gives its digest and how many documents it has. Of those in `without` it has no trace.

    Where nothing is left, no file is made and the digest is empty.

    Args:
        path: of the new file, which may be one of the old ones'.
        segments: whose documents it has.
        head: the facts that it is written with.
        without: numbers of documents that are left out.

    Raises:
        UsageError: two of them hold one `seq`. IndexDamaged: one was changed meanwhile.
        NotSaved, DiskFull, ReadOnly: it could not be written.
    """
    dropped = np.array(sorted(without), "<u8")
    if not any(segment.outside(dropped).any() for segment in segments):
        return "", 0
    planned = merging.plan([(segment.columns, segment.outside(dropped)) for segment in segments])
    draft = layout.Draft(path, planned.shapes, head)
    try:
        merging.fill(planned, draft.columns)
        for segment in segments:
            segment.check()
        return draft.finish(), len(draft.columns.seqs)
    finally:
        draft.drop()
