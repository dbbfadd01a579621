"""The printable backup: what was printed comes back, and a slip of the pen is found in its line."""

from __future__ import annotations

from functools import lru_cache
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import AccessDenied, UsageError
from indelible.keys import backup, sealedkey

KEYS = (
    backup.SavedKey("indelible/local/eros", "PRIVATE+KEY+…", ("PRIVATE+KEY+old",)),
    backup.SavedKey("indelible-owner/mina", '{"sealed":"…"}', ()),
)
PHRASE = "correct horse"
saved = st.tuples(st.text(), st.text(), st.lists(st.text(), max_size=3).map(tuple)).map(
    lambda parts: backup.SavedKey(*parts)
)


@lru_cache(maxsize=1)
def printed() -> str:
    return backup.format_backup(KEYS, PHRASE)


def lines() -> list[str]:
    return printed().splitlines()


@given(st.lists(saved, max_size=4).map(tuple), st.text(min_size=1))
def test_what_was_backed_up_comes_back(keys: tuple[backup.SavedKey, ...], phrase: str) -> None:
    with patch.object(
        sealedkey, "_stretched", lambda secret, salt: (secret.encode("utf-8", "replace") + salt * 2)[:32]
    ):
        assert backup.parse_backup(backup.read_blob(backup.format_backup(keys, phrase)), phrase) == keys


def test_the_text_can_be_printed_and_shows_nothing() -> None:
    assert printed().isascii()
    assert max(map(len, lines())) <= 72
    assert "eros" not in printed()


def test_another_passphrase_opens_nothing() -> None:
    with pytest.raises(AccessDenied):
        backup.parse_backup(backup.read_blob(printed()), "Correct horse")


@given(st.sampled_from(["\r\n", "\n\n", "  \n\t"]), st.booleans())
def test_spaces_line_ends_and_text_round_it_do_not_matter(end: str, joined: bool) -> None:
    body = [(" ".join([words[0], "".join(words[1:-1]), words[-1].upper()]) if joined else line)
            for line in lines()[1:-1] for words in [line.split()]]  # fmt: skip
    typed = end.join(["\ufeffFound in the safe:", lines()[0], *body, lines()[-1], "Mina"])
    assert backup.read_blob(typed) == backup.read_blob(printed())


@given(st.data())
def test_a_letter_typed_wrong_is_found_in_its_line(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(lines()) - 2))
    line = lines()[number]
    at = data.draw(st.integers(0, len(line) - 1).filter(lambda index: line[index] != " "))
    letter = data.draw(st.sampled_from("AZaz09+/=").filter(lambda letter: letter.lower() != line[at].lower()))
    typed = lines()
    typed[number] = line[:at] + letter + line[at + 1 :]
    with pytest.raises(UsageError, match=rf"line {number} of"):
        backup.read_blob("\n".join(typed))


def test_lines_left_out_are_named_and_their_order_does_not_matter() -> None:
    typed = lines()
    assert backup.read_blob("\n".join([typed[0], *reversed(typed[1:-1]), typed[-1]])) == backup.read_blob(printed())
    with pytest.raises(UsageError, match=r"line 1, 3 of"):
        backup.read_blob("\n".join([typed[0], typed[2], *typed[4:]]))


@pytest.mark.parametrize("text", ["", "hello", "-----BEGIN INDELIBLE KEY BACKUP-----"])
def test_a_text_that_is_no_backup_is_told_so(text: str) -> None:
    with pytest.raises(UsageError, match="BEGIN and END"):
        backup.read_blob(text)


@pytest.mark.parametrize("label", ["x", "01/x", "1/²", "1/999999", "1/"])
def test_lines_without_numbers_are_told_so(label: str) -> None:
    with pytest.raises(UsageError):
        backup.read_blob(f"{lines()[0]}\n{label} AAAA 0000\n{lines()[-1]}")


@pytest.mark.parametrize(
    "value", [b"[]", b'{"version":2}', b'{"keys":[5],"version":1}', b'{"keys":[{"name":1}],"version":1}']
)
def test_a_backup_of_a_newer_version_says_so(value: bytes) -> None:
    with pytest.raises(UsageError, match="Upgrade"):
        backup.parse_backup(sealedkey.encrypt(PHRASE, value, b"indelible/key-backup/v1\n"), PHRASE)
