"""The estimate of tokens, held against a real vocabulary that a package ships, and what texts put together take."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import ROOT
from tests.tokens import count

from indelible.state.budget import DENSEST, Room, estimate

LEAST, MOST = 0.9, 1.5

KOREAN = """\
# 거버넌스

이 규칙은 모든 작업에 적용된다. 사람의 승인 없이 커밋하거나 푸시하지 않는다. 승인은 바로 그 변경에 대한 것이어야 하며,
이전 승인을 다른 변경에 다시 쓰지 않는다. 컴팩션이 끝나면 상태 디렉토리를 처음부터 끝까지 읽고, 마지막 파일이 허락하는
일만 한다. 비평가가 이미 거절한 방법은 이름을 바꾸어 다시 제안하지 않는다.

## 금지
- 봉인된 파일을 편집기로 고치지 않는다. 덧붙이는 파일은 덧붙이기만 한다.
- 검증에 실패하면 멈추고 사람에게 알린다. 스스로 고치려 하지 않는다.
- 비밀번호와 열쇠는 어떤 기록에도 남기지 않는다.

오늘은 목록을 날짜순으로 정렬하는 기능을 맡았다. 실패하는 시험을 먼저 썼고, 정렬 함수가 입력을 바꾸는 문제를 찾았다.
다음에 할 일은 입력을 복사한 뒤 정렬하도록 고치고, 시험을 다시 돌리는 것이다.
"""
ENGLISH = """\
Two agents share one repository, and neither remembers what the other one did. Whoever wakes up first reads the laws, the ticket
and the plan, in that order; then what was tried and rejected, and at last the single line that says what may be done next. A
summary keeps the progress and loses the ban, which is how a branch that nobody had approved came to be pushed on a Friday. So
the laws are not part of any summary: they are files of their own, they are sealed, and they come back whole or not at all.
"""
MIXED = """\
## Round 3: rejected
Blocked: `sorter.sort(items)`가 입력 리스트를 직접 바꾼다 (mutates its argument). 호출한 쪽의 목록 순서가 깨진다.
Ignored: 변수 이름에 대한 지적 (style nit).
Do not try again: `items.sort()`를 wrapper로 감싸는 방법, deepcopy로 전체를 복사하는 방법 (3배 느림, p95 240 ms).
"""
HEX = "".join(f"{hashlib.sha256(bytes([number])).hexdigest()}  {number:02d}_name.md\n" for number in range(40))
JSON = json.dumps(
    [
        {
            "ok": True,
            "key": f"state/{number}",
            "sha256": HEX[:64],
            "at": "2026-06-10T17:43:56Z",
            "notes": ["없음", "none"],
        }
        for number in range(20)
    ],
    indent=2,
    ensure_ascii=False,
)
EMOJI = "✅ 검증 통과, done 🚀\n❌ 실패: tests failed 🧪\n⚠️ 주의 → look again 👀\n" * 8
SAMPLES = {
    "korean": KOREAN, "english": ENGLISH, "mixed": MIXED, "hex digests": HEX, "json": JSON, "emoji": EMOJI,
    "paths": "\n".join(sorted(str(path.relative_to(ROOT)) for path in Path(ROOT, "src").rglob("*.py"))),
    "table": "| 파일 | 규칙 |\n|---|---|\n" + "| `00_governance.md` | 커밋은 사람의 승인 뒤에만 한다 |\n" * 12,
    "times": "".join(f"{day:02d} 2026-06-{day:02d}T17:43:56Z {day * 7919}\n" for day in range(10, 29)),
}  # fmt: skip
FILES = [
    "README.md",
    *(f"docs/{name}.md" for name in ("errors", "format", "gate", "glossary", "threat-model", "settings")),
]
FILES += [f"src/indelible/{name}.py" for name in ("entry", "memory/reading", "cli/fast", "state/slot", "store/follow")]


def ratio(text: str) -> float:
    return estimate(text) / count(text)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_near_a_real_tokenizer(name: str) -> None:
    assert LEAST <= ratio(SAMPLES[name]) <= MOST


@pytest.mark.parametrize("name", FILES)
def test_the_estimate_is_near_a_real_tokenizer_on_files_of_this_project(name: str) -> None:
    assert LEAST <= ratio(Path(ROOT, name).read_text(encoding="utf-8")) <= MOST


@pytest.mark.parametrize("name", FILES)
def test_pages_of_a_file_are_near_too(name: str) -> None:
    """A briefing is about so long. A page of nothing but signatures or of nothing but column names is not near, and none of these is."""
    text = Path(ROOT, name).read_text(encoding="utf-8")
    pages = [text[start : start + 6000] for start in range(0, len(text) - 6000, 6000)]
    assert [page[:60] for page in pages if not LEAST <= ratio(page) <= MOST] == []


LINES = st.lists(
    st.text(st.sampled_from("aZz09_ .,:#\t-가힣漢é🚀\u200b\n"), max_size=20).map(lambda text: text + "\n"), max_size=8
)


@given(LINES)
def test_lines_put_together_take_no_more_than_each_for_itself(lines: list[str]) -> None:
    assert estimate("".join(lines)) <= sum(map(estimate, lines))


@given(st.text(max_size=200), st.text(max_size=50))
def test_more_text_never_takes_less(text: str, more: str) -> None:
    assert estimate(text) <= estimate(text + "\n" + more)


def test_nothing_takes_nothing() -> None:
    assert estimate("") == 0
    assert Room(10, 10).less("") == Room(10, 10)


def test_half_of_a_surrogate_pair_is_counted_like_any_character() -> None:
    assert estimate("\ud800") > 0


def test_what_is_far_too_long_is_not_counted_one_by_one() -> None:
    assert Room(10, 1 << 40).less("a b " * 2_000_000).is_over
    assert Room(10, 5).less("a b c d").is_over
    assert not Room(DENSEST, 7).less("a b c d").is_over
