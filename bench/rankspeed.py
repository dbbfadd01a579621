"""What ranking costs: a row within a save, a segment, a question; each beside what the memory of the machine could do.

The memories are turns and sentences of the public sets, drawn anew into texts of about 500 bytes. A question's least bytes are the
lists of its terms, one number for each document, and the n-grams of five hundred candidates; what reading those would take at the
speed at which this process sums one long array is the limit that its time is held against: the time of this process, since other
processes of a busy machine lengthen the one that somebody waits.
"""

from __future__ import annotations

import os
import resource
import time
from itertools import islice
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import publicsets
from table import Row

from indelible.recall import tokens
from indelible.recall.index import CANDIDATES, Index
from indelible.recall.segment import Segment, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from indelible.recall.row import Row as Indexed

QUESTIONS = 100
WARM = 10
REACH = {100_000: 10.0, 1_000_000: 60.0}
"""Milliseconds."""
ROW_REACH = 0.5
_STREAM = 1 << 27
"""Bytes of the array that is summed, more than any cache holds."""
_TURNS = 20
"""Of an episode."""


class Asked(NamedTuple):
    """What some questions took."""

    milliseconds: list[float]
    cpu: float
    """Milliseconds of it in the median."""
    least: float
    """Bytes that the median question has to touch."""


def rows(data: str, folder: str, size: int, indexed: Callable[[int, str, int, int], Indexed]) -> Iterator[Row]:
    """A store of so many memories."""
    yield _row_cost(data)
    path = os.path.join(folder, f"segment-{size}")
    begun = time.perf_counter()
    texts = enumerate(publicsets.recombined(data, size))
    digest = build(path, (indexed(seq + 1, text, seq // _TURNS + 1, seq % _TURNS) for seq, text in texts), {})
    took, peak = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    measured = f"{took:.0f} s, {os.path.getsize(path) / 1e6:,.0f} MB in the file, {peak:,.0f} MB of memory at most"
    yield Row(f"{size:,} memories: a segment is built", measured)
    begun = time.perf_counter()
    segment = Segment.open(path, digest, {})
    yield Row(f"{size:,} memories: it is opened, every byte checked", f"{(time.perf_counter() - begun) * 1e3:.0f} ms")
    begun = time.perf_counter()
    index = Index([segment], (), segment.columns.seqs.copy())
    yield Row(f"{size:,} memories: an index is made of it", f"{(time.perf_counter() - begun) * 1e3:.1f} ms")
    yield from _questions(data, size, index, segment)
    os.unlink(path)


def _row_cost(data: str) -> Row:
    contents = [text.encode() for text in islice(publicsets.recombined(data, 1_000), 1_000)]
    cold = []
    for content in contents[:300]:
        tokens._word.cache_clear()  # noqa: SLF001 - as in a process that has just begun
        cold.append(_cpu(lambda content=content: tokens.features(content)))
    warm = _cpu(lambda: [tokens.features(content) for content in contents]) / len(contents)
    bytes_each = sum(map(len, contents)) / len(contents)
    measured = f"{warm * 1e3:.2f} ms of CPU; {median(cold) * 1e3:.2f} in a process that saw no word before"
    return Row(f"features of {bytes_each:.0f} bytes", measured, f"<= {ROW_REACH} ms", warm * 1e3 <= ROW_REACH)


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _questions(data: str, size: int, index: Index, segment: Segment) -> Iterator[Row]:
    english = [question.text for pool in publicsets.locomo(data) for question in pool.questions]
    korean = [question.text for question in publicsets.korquad(data).questions]
    speed = _stream()
    for name, questions in (("English", english), ("Korean", korean)):
        step = len(questions) // QUESTIONS
        asked = _ask(index, segment, questions[::step][:QUESTIONS])
        p50, p90 = median(asked.milliseconds), quantiles(asked.milliseconds, n=10)[-1]
        limit = asked.least / speed * 1e3
        measured = (
            f"p50 {p50:.1f} ms (CPU {asked.cpu:.1f}), p90 {p90:.1f}; {asked.cpu / limit:.0f} x the limit of the memory "
            f"({asked.least / 1e6:.1f} MB at {speed / 1e9:.1f} GB/s)"
        )
        reach = REACH.get(size)
        what = f"{size:,} memories: a question in {name}, warm"
        yield Row(what, measured, f"<= {reach:.0f} ms" if reach else "–", p50 <= reach if reach else None)
    misspelt = [" ".join(word[:-2] + word[-1:] + word[-2:-1] for word in text.split()) for text in english[::200]]
    took = [_wall(lambda text=text: index.query(text, limit=10)) for text in misspelt]
    yield Row(f"{size:,} memories: a question with every word misspelt", f"p50 {median(took) * 1e3:.0f} ms")


def _ask(index: Index, segment: Segment, questions: Sequence[str]) -> Asked:
    for question in questions[:WARM]:
        index.query(question, limit=10)
    took, busy = [], []
    for question in questions:
        begun = time.perf_counter(), time.process_time()
        index.query(question, limit=10)
        took.append((time.perf_counter() - begun[0]) * 1e3)
        busy.append((time.process_time() - begun[1]) * 1e3)
    columns = segment.columns
    candidates = min(CANDIDATES, len(segment)) * len(columns.grams) / max(len(segment), 1)
    touched = [_postings(segment, question) * 5 + len(segment) * 4 + candidates * 2 for question in questions]
    return Asked(took, median(busy), median(touched))


def _postings(segment: Segment, question: str) -> int:
    columns = segment.columns
    places = np.searchsorted(columns.terms, np.array(tokens.query_terms(question).terms, np.uint64))
    places = places[places < len(columns.terms)]
    return int((columns.term_at[places + 1] - columns.term_at[places]).sum())


def _wall(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _stream() -> float:
    """Bytes that are read in a second, at best."""
    array = np.ones(_STREAM // 8, np.int64)
    return _STREAM / min(_wall(array.sum) for _ in range(5))
