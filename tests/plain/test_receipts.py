from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from indelible.errors import NotSaved, Unchecked
from indelible.plain.receipts import SAVED, SENDING, Receipt, Receipts
from indelible.seal.digest import Digest

if TYPE_CHECKING:
    from pathlib import Path

NOW = "2026-11-30T00:00:00Z"
ONE, TWO = Digest.of(b"one"), Digest.of(b"two")
OF = ("http://127.0.0.1:8000", "eros", "MEMORY.md")


def receipts(path: Path) -> Receipts:
    return Receipts(str(path), lambda: NOW)


def test_receipts_come_back_newest_first(tmp_path: Path) -> None:
    kept = receipts(tmp_path / "receipts.db")
    kept.put(*OF, ONE, SENDING)
    kept.put(*OF, ONE, SAVED)
    kept.put(*OF, TWO, SENDING)
    assert receipts(tmp_path / "receipts.db").get(*OF) == (
        Receipt(TWO, NOW, SENDING),
        Receipt(ONE, NOW, SAVED),
        Receipt(ONE, NOW, SENDING),
    )


def test_a_receipt_is_for_one_place_agent_and_key(tmp_path: Path) -> None:
    kept = receipts(tmp_path / "receipts.db")
    kept.put(*OF, ONE, SAVED)
    for other in (("http://other", *OF[1:]), (OF[0], "Eros", OF[2]), (*OF[:2], "MEMORY.md ")):
        assert kept.get(*other) == ()


def test_looking_makes_no_file(tmp_path: Path) -> None:
    assert receipts(tmp_path / "state" / "receipts.db").get(*OF) == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="modes are a POSIX matter")
def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        receipts(tmp_path / "state" / "receipts.db").put(*OF, ONE, SAVED)
    finally:
        os.umask(before)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / "receipts.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "receipts.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotSaved, match="receipts"):
        receipts(tmp_path / "receipts.db").put(*OF, ONE, SAVED)
    with pytest.raises(Unchecked, match="receipts"):
        receipts(tmp_path / "receipts.db").get(*OF)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("broken", [b"{}" * 400, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_broken_file_is_an_error_and_not_no_receipts(tmp_path: Path, broken: bytes) -> None:
    (tmp_path / "receipts.db").write_bytes(broken)
    with pytest.raises(Unchecked, match="cannot be read"):
        receipts(tmp_path / "receipts.db").get(*OF)
    with pytest.raises(NotSaved, match="cannot be kept"):
        receipts(tmp_path / "receipts.db").put(*OF, ONE, SAVED)


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Unchecked):
        receipts(tmp_path).get(*OF)


def test_savers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    def save(number: int) -> None:
        for _ in range(10):
            receipts(tmp_path / "receipts.db").put(*OF[:2], str(number), ONE, SAVED)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(receipts(tmp_path / "receipts.db").get(*OF[:2], str(number))) for number in range(4)] == [10] * 4


def test_the_client_without_receipts_and_the_forms_import_neither_httpx_nor_apsw() -> None:
    code = "import sys; import indelible.plain.client; print(*{'httpx', 'apsw', 'ssl'} & set(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.stdout.strip() == ""
