"""The memories that everything here is measured on: Korean and English mixed, the same bytes in every run.

    10,000 of 500 bytes · 1,000 of 2 KB · 100 of 100 KB

`content(number, size)` has exactly `size` bytes of UTF-8. Short of a million different texts there are `VARIANTS` of
them, each with its number in front, so that no two memories are equal.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL, MEDIUM, LARGE = 500, 2_000, 100_000
VARIANTS = 1_000
TEXT = (
    "기억 메모리 봉인 검증 세션 결정 되돌리기 이름공간 배포는 목요일에만 한다. 이 키는 바꾸지 말 것. 왜냐하면 테스트가 먼저였다. "
    "the release branch is cut on Thursday and never on Friday. decision constraint owner log head pin seal verify agent "
    "do not rerun the migration; it failed twice. see docs/threat-model.md 🔒 TODO(eros): ask before deleting."
)
WORDS = TEXT.split()


def key(number: int) -> str:
    """The name of a memory."""
    return f"notes/{number:07}.md"


def content(number: int, size: int = SMALL) -> bytes:
    """Exactly `size` bytes of UTF-8, different for every number."""
    head = f"# {number}\n".encode()
    rest = _text(number % VARIANTS, size)[: size - len(head)]
    whole = head + rest.decode(errors="ignore").encode()
    return whole + b"." * (size - len(whole))


def memories(count: int, size: int = SMALL, start: int = 0) -> Iterator[tuple[str, bytes]]:
    """So many keys with their contents."""
    return ((key(number), content(number, size)) for number in range(start, start + count))


@lru_cache(maxsize=2 * VARIANTS)
def _text(variant: int, size: int) -> bytes:
    dice = random.Random(f"{variant}/{size}")
    return " ".join(dice.choices(WORDS, k=size // 3)).encode()[:size]
