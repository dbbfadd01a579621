"""load."""

from __future__ import annotations

import os
import stat

import pytest
from tests.cli.hands import FIRST, Kept, ended, refused, said, sha256, start


def test_load_gives_exactly_the_bytes_and_nothing_else(kept: Kept) -> None:
    content = bytes(range(256)) + b"\r\n\x00"
    kept.save("bytes", content)
    ran = kept.run("load", "bytes")
    assert (ran.code, ran.stdout, ran.stderr) == (0, content, "⚠️ unreviewed\n".encode())


def test_load_into_a_file_writes_it_whole(kept: Kept) -> None:
    target = kept.work / "out.md"
    ran = kept.run("load", "MEMORY.md", "-o", target)
    assert (ran.code, ran.stdout) == (0, b"")
    assert target.read_bytes() == FIRST
    assert [path.name for path in kept.work.iterdir()] == ["out.md"], "no temporary file stays"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_load_into_a_file_keeps_its_rights(kept: Kept) -> None:
    target = kept.file("MEMORY.md", b"old")
    target.chmod(0o664)
    assert kept.run("load", "MEMORY.md", "-o", target).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o664
    fresh = kept.work / "fresh"
    assert kept.run("load", "MEMORY.md", "--output", fresh).code == 0
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o666 & ~umask


def test_the_checksum_of_every_memory_can_be_read_beside_it(kept: Kept) -> None:
    """64 digits and nothing else under KEY.sha256, as older clients look for them."""
    assert kept.run("load", "MEMORY.md.sha256").stdout == sha256(FIRST).encode()
    refused(kept.run("load", "nothing.sha256"), 3)
    kept.alter()
    ran = kept.run("load", "MEMORY.md.sha256")
    refused(ran, 2)
    assert ran.stdout == b""


def test_a_dash_is_standard_output(kept: Kept) -> None:
    assert kept.run("load", "MEMORY.md", "-o", "-").stdout == FIRST
    assert kept.run("checkpoint", "-o", "-").out == kept.run("checkpoint").out
    assert kept.run("proof", "MEMORY.md", "-o", "-").out.startswith("c2sp.org/tlog-proof@v1")
    assert kept.run("key", "backup", "-o", "-", env=kept.passphrase()).out.startswith("-----BEGIN")
    assert not (kept.work / "-").exists()


def test_a_memory_that_fails_does_not_touch_the_file(kept: Kept) -> None:
    target = kept.file("MEMORY.md", b"mine\n")
    kept.alter()
    refused(kept.run("load", "MEMORY.md", "-o", target), 2, "indelible incident")
    assert target.read_bytes() == b"mine\n"
    assert kept.run("load", "MEMORY.md").stdout == b"", "not one byte of it is given"


def test_load_does_not_write_through_a_link(kept: Kept) -> None:
    outside = kept.home / "outside"
    (kept.work / "link").symlink_to(outside)
    refused(kept.run("load", "MEMORY.md", "-o", "link"), 64, str(outside))
    assert not outside.exists()


@pytest.mark.parametrize(("target", "code"), [(".", 64), ("nowhere/out", 1), ("file/out", 1)])
def test_a_place_that_cannot_be_written_is_named(kept: Kept, target: str, code: int) -> None:
    kept.file("file", b"")
    refused(kept.run("load", "MEMORY.md", "-o", target), code, target if code == 1 else str(kept.work))


def test_an_older_version_is_loaded_by_its_number(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("load", "MEMORY.md", "--version", "1").stdout == FIRST
    assert kept.run("load", "MEMORY.md", "--version", "2").stdout == b"second\n"
    refused(kept.run("load", "MEMORY.md", "--version", "3"), 3, "the latest is 2")
    refused(kept.run("load", "MEMORY.md", "--version", "0"), 64)


def test_as_json_text_is_text_and_bytes_are_base64(kept: Kept) -> None:
    text = said(kept.run("load", "MEMORY.md", "--json"))
    assert (text["encoding"], text["content"], text["sha256"], text["checksum_ok"]) == (
        "utf-8",
        FIRST.decode(),
        sha256(FIRST),
        True,
    )
    kept.save("bytes", b"\xff\x00")
    document = said(kept.run("--json", "load", "bytes"))
    assert (document["encoding"], document["content"], document["bytes"]) == ("base64", "/wA=", 2)
    to_file = said(kept.run("load", "MEMORY.md", "--json", "-o", "out"))
    assert "content" not in to_file
    assert (kept.work / "out").read_bytes() == FIRST


@pytest.mark.parametrize(
    "text", ["\ud800".encode("utf-8", "surrogatepass"), b"\xc3\x28", b"\xed\xa0\x80", "짧은\x00 \u2028 글".encode()]
)
def test_content_that_is_odd_or_no_utf8_is_kept_as_bytes(kept: Kept, text: bytes) -> None:
    kept.save("odd", text)
    assert kept.load("odd") == text
    assert said(kept.run("load", "odd", "--json"))["sha256"] == sha256(text)


def test_what_was_never_saved_is_not_found(kept: Kept) -> None:
    refused(kept.run("load", "nothing"), 3, "nothing", "default")


def test_an_agent_sees_nothing_of_another(kept: Kept) -> None:
    refused(kept.run("load", "MEMORY.md", "--agent", "other"), 3, "other")


@pytest.mark.parametrize(("how", "remedy"), [("archive", "unarchive"), ("expire", "--expires")])
def test_a_memory_that_is_held_is_not_given_and_the_remedy_is_said(kept: Kept, how: str, remedy: str) -> None:
    if how == "archive":
        assert kept.run("archive", "MEMORY.md").code == 0
    else:
        kept.save("MEMORY.md", FIRST, "--expires", "2020-01-01")
    ran = kept.run("load", "MEMORY.md")
    refused(ran, 4, remedy)
    assert ran.stdout == b""
    assert said(kept.run("load", "MEMORY.md", "--json"))["slug"] == "held"


def test_an_erased_memory_is_not_found(kept: Kept) -> None:
    assert kept.run("erase", "MEMORY.md", "--yes").code == 0
    refused(kept.run("load", "MEMORY.md"), 3, "erased")
    refused(kept.run("load", "MEMORY.md", "--version", "1"), 3, "erased")


def test_a_key_that_stands_untouched_is_given_beside_an_altered_one(kept: Kept) -> None:
    kept.save("other", b"fine\n")
    kept.sql("UPDATE record SET content = ? WHERE id = (SELECT min(id) FROM record)", b"evil")
    refused(kept.run("load", "MEMORY.md"), 2, "MEMORY.md")
    ran = kept.run("load", "other")
    assert (ran.code, ran.stdout) == (0, b"fine\n")


def test_a_log_that_cannot_be_followed_is_said_aloud_beside_what_is_known(kept: Kept) -> None:
    """One bad place must not hide everything; and no exit code 0 beside a failed check."""
    kept.save("other", b"fine\n")
    kept.sql("UPDATE log SET note = ?", b"garbage")
    ran = kept.run("load", "other")
    assert (ran.code, ran.stdout) == (2, b"fine\n")
    assert "The store was altered" in ran.err
    document = said(kept.run("load", "other", "--json"))
    assert (document["slug"], document["finding"]["slug"]) == ("malformed", "malformed")
    for words in (
        ("verify", "other"),
        ("list",),
        ("history", "other"),
        ("save", "other", "-"),
        ("edit", "other", "--editor", "true"),
    ):
        refused(kept.run(*words, input=b"x"), 2)


def test_a_full_disk_behind_standard_output_is_not_success(kept: Kept) -> None:
    """`load KEY > file`: half a memory with exit code 0 would be believed."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        for words in (
            ("load", "MEMORY.md"),
            ("load", "MEMORY.md", "--json"),
            ("checkpoint",),
            ("proof", "MEMORY.md"),
            ("pin", "show"),
            ("key", "show"),
        ):
            refused(ended(start(*words, cwd=kept.work, stdout=full)), 1, "could not be written")


def test_a_reader_that_stops_early_is_no_fault(kept: Kept) -> None:
    kept.save("big", b"line\n" * 200_000)
    process = start("load", "big", cwd=kept.work)
    assert process.stdout is not None
    assert process.stdout.read(5) == b"line\n"
    process.stdout.close()
    process.stdout = None
    ran = ended(process)
    assert "Traceback" not in ran.err
    assert ran.code in (0, 1)
