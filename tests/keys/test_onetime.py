"""One-time codes: each counts once, near its time, and only with the passphrase."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from indelible.errors import AccessDenied, UsageError
from indelible.keys import onetime

if TYPE_CHECKING:
    from pathlib import Path

NAME = "indelible-approver/mina"
AT = 1_800_000_015


@pytest.fixture
def enrolled(tmp_path: Path) -> tuple[str, TOTP]:
    """A key folder, and the app that has the secret."""
    from base64 import b32decode

    folder = str(tmp_path / "keys")
    os.makedirs(folder)
    address = onetime.enrol(folder, NAME, "passphrase")
    query = parse_qs(urlsplit(address).query)
    return folder, TOTP(b32decode(query["secret"][0]), 6, SHA1(), 30)  # noqa: S303 - RFC 6238's own


def code(app: TOTP, at: int) -> str:
    return app.generate(at).decode()


def test_a_code_counts_once(enrolled: tuple[str, TOTP]) -> None:
    folder, app = enrolled
    onetime.use(folder, NAME, "passphrase", code(app, AT), AT)
    with pytest.raises(onetime.WrongCode):
        onetime.use(folder, NAME, "passphrase", code(app, AT), AT)
    onetime.use(folder, NAME, "passphrase", code(app, AT + 30), AT + 5)  # a clock that is a little ahead
    with pytest.raises(onetime.WrongCode):
        onetime.use(folder, NAME, "passphrase", code(app, AT), AT + 30)  # older than the last one that counted


@pytest.mark.parametrize("shift", [-60, 60, -3600, 86400])
def test_a_code_of_another_time_is_refused(enrolled: tuple[str, TOTP], shift: int) -> None:
    folder, app = enrolled
    with pytest.raises(onetime.WrongCode):
        onetime.use(folder, NAME, "passphrase", code(app, AT + shift), AT)


@pytest.mark.parametrize("shift", [-30, 0, 30])
def test_a_code_may_be_half_a_minute_off_and_be_typed_with_a_space(enrolled: tuple[str, TOTP], shift: int) -> None:
    folder, app = enrolled
    typed = code(app, AT + shift)
    onetime.use(folder, NAME, "passphrase", f"{typed[:3]} {typed[3:]}", AT)


@pytest.mark.parametrize("typed", ["", "000000x", "١٢٣٤٥٦", "1" * 1000])
def test_what_is_no_code_is_refused(enrolled: tuple[str, TOTP], typed: str) -> None:
    folder, _ = enrolled
    with pytest.raises(onetime.WrongCode):
        onetime.use(folder, NAME, "passphrase", typed, AT)


def test_the_secret_is_under_the_passphrase(enrolled: tuple[str, TOTP]) -> None:
    folder, app = enrolled
    with pytest.raises(AccessDenied):
        onetime.use(folder, NAME, "another", code(app, AT), AT)
    path = onetime.path_of(folder, NAME)
    assert os.stat(path).st_mode & 0o777 == 0o600
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    found["sealed"] = found["sealed"][::-1]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file)
    with pytest.raises((UsageError, AccessDenied)):
        onetime.use(folder, NAME, "passphrase", code(app, AT), AT)


def test_a_broken_file_never_counts_as_no_file(enrolled: tuple[str, TOTP]) -> None:
    folder, app = enrolled
    with open(onetime.path_of(folder, NAME), "w", encoding="utf-8") as file:
        file.write("{}")
    with pytest.raises(UsageError, match="no secret"):
        onetime.use(folder, NAME, "passphrase", code(app, AT), AT)


def test_a_key_without_a_secret_asks_for_no_code(tmp_path: Path) -> None:
    os.makedirs(tmp_path / "keys")
    assert onetime.read(str(tmp_path / "keys"), NAME) is None
    onetime.use(str(tmp_path / "keys"), NAME, "passphrase", "", AT)
