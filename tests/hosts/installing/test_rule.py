"""The boot loader's rule in a file of instructions: between marks, in the file's own line ends and encoding."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import UsageError
from indelible.hosts.installing import rule
from indelible.hosts.installing.rule import Rule

RULE = Rule(("MEMORY.md",))
OTHER = Rule(("MEMORY.md", "notes/팀 규칙.md"))


@given(st.binary(max_size=60).filter(lambda data: not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))))
def test_what_stands_before_it_stays_byte_for_byte(content: bytes) -> None:
    made = rule.put(content, RULE)
    assert made.startswith(content)
    assert rule.put(made, RULE) == made, "twice is once"
    assert rule.is_current(made, RULE)
    left = rule.take_out(made)
    assert left.startswith(content)
    assert left.strip(b"\r\n") == content.strip(b"\r\n")


@pytest.mark.parametrize(
    "content",
    [b"", b"# A\n", b"# A\r\n\r\ntext\r\n", codecs.BOM_UTF8 + "# 규칙\n".encode(), "# 규칙\n".encode("cp949")],
)
def test_taken_out_again_the_file_is_what_it_was(content: bytes) -> None:
    assert rule.take_out(rule.put(content, RULE)) == content


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_wide_characters_stay_wide(codec: str) -> None:
    mark = codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE
    content = mark + "# 규칙\r\n".encode(codec)
    made = rule.put(content, RULE)
    text = made[2:].decode(codec)
    assert text.startswith("# 규칙\r\n\r\n<!-- indelible:begin -->\r\n")
    assert "\n" not in text.replace("\r\n", "")
    assert rule.take_out(made) == content


def test_line_ends_are_the_files_own() -> None:
    assert b"\n" not in rule.put(b"# A\r\n", RULE).replace(b"\r\n", b"")
    assert b"\r" not in rule.put(b"# A\n", RULE)


def test_an_older_rule_is_replaced_in_its_place_and_the_text_around_it_stays() -> None:
    old = b"# A\n\n<!-- indelible:begin -->\nan older wording\n<!-- indelible:end -->\n\n## B\n"
    made = rule.put(old, RULE)
    assert made.startswith(b"# A\n\n<!-- indelible:begin -->\n## Memory that is")
    assert made.endswith(b"<!-- indelible:end -->\n\n## B\n")
    assert rule.take_out(made) == b"# A\n\n## B\n"


@pytest.mark.parametrize(
    "content",
    [
        rule.BEGIN.encode(),
        rule.END.encode(),
        f"{rule.END}\n{rule.BEGIN}".encode(),
        f"{rule.BEGIN}{rule.BEGIN}{rule.END}".encode(),
    ],
)
def test_a_mark_without_the_other_is_refused(content: bytes) -> None:
    for change in (lambda data: rule.put(data, RULE), rule.take_out):
        with pytest.raises(UsageError, match="without the other"):
            change(content)


def test_it_is_one_paragraph_and_the_seeds_line_for_each_memory_and_boot() -> None:
    text = "\n".join(OTHER.lines())
    assert "    indelible verify MEMORY.md || exit 1\n" in text
    assert "    indelible boot || exit 1\n" in text
    assert text.isascii(), "it fits every encoding"
    assert "after compaction" in text or "context compaction" in text
    assert text.count("indelible verify") == 2


def test_the_rule_stops_nobody_where_nothing_was_ever_sealed() -> None:
    text = "\n".join(OTHER.lines())
    assert text.index("only in a repository that has a folder `.indelible/`") < text.index("indelible boot")
    assert "Exit code 3 of either is no failure" in text
    assert "After you edited MEMORY.md: `indelible save MEMORY.md MEMORY.md`." in text
    assert "Target 0" not in text
