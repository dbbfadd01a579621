"""Each thing that an audit can find, brought about and found: most by raw SQL, some with a stolen key."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests.audit.stores import SIZE, look, pin_of, rewrite, slugs
from tests.support import Bench, bench_at, entry_of, sign_entry, signer_of

from indelible.audit import SLUGS
from indelible.audit.findings import LIMIT
from indelible.audit.grammar import PAYLOAD_TYPE
from indelible.entry import Governed
from indelible.errors import PinLost
from indelible.memory.governing import restore_store, revoke, rotate, set_pin
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.digest import CONTENT_DOMAIN, RECORD_DOMAIN, commit
from indelible.seal.merkle import leaf_hash, root_of
from indelible.seal.note import Verifier, pae, sign_note

if TYPE_CHECKING:
    from pathlib import Path

    from indelible.audit import Finding, Report
    from indelible.seal.note import Signer

SECRET, OLD, FIRST, SECOND = 4, 2, 0, 1
"""Numbers of entries of the filled store."""


def only(report: Report, slug: str) -> Finding:
    """The one finding of that slug, where there is nothing else."""
    assert {finding.slug for finding in report.findings} == {slug}, report.findings
    return report.findings[0]


def edit(bench: Bench, statement: str, seq: int) -> None:
    bench.sql(statement, bench.row_id(seq))


# The file.


def test_no_file_is_unreadable(tmp_path: Path) -> None:
    finding = only(look(bench_at(tmp_path)), "unreadable")
    assert finding.severity == "error"
    assert finding.remedy


def test_a_folder_is_unreadable(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    os.makedirs(bench.path)
    assert "unreadable" in slugs(look(bench))


def test_an_empty_file_is_unreadable(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    with open(bench.path, "wb"):
        os.chmod(bench.path, 0o600)
    assert "not an Indelible store" in only(look(bench), "unreadable").message


def test_another_file_is_unreadable(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    with open(bench.path, "wb") as file:
        os.chmod(bench.path, 0o600)
        file.write(b"# MEMORY\n" * 1000)
    only(look(bench), "unreadable")


def test_a_newer_format_is_unreadable_and_asks_for_an_upgrade(bench: Bench) -> None:
    bench.sql("PRAGMA user_version = 2")
    assert "Upgrade" in only(look(bench), "unreadable").remedy


def test_a_broken_page_is_damage_and_does_not_hide_the_rest(bench: Bench) -> None:
    page = bench.sql("SELECT rootpage FROM sqlite_schema WHERE name = 'op'")[0][0]
    with open(bench.path, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    edit(bench, "UPDATE record SET content = x'00' WHERE id = ?", SECOND)
    assert {"damaged", "altered-content"} <= slugs(look(bench))


@pytest.mark.parametrize("table", ["entry", "record", "tile", "op"])
def test_a_table_that_is_gone_is_a_finding(bench: Bench, table: str) -> None:
    bench.sql(f"DROP TABLE {table}")
    found = slugs(look(bench))
    assert "altered-schema" in found
    assert not found <= {"altered-schema"}


def test_a_table_log_that_is_gone_is_damage(bench: Bench) -> None:
    bench.sql("DROP TABLE log")
    assert "damaged" in slugs(look(bench))


def test_a_trigger_is_an_altered_schema(bench: Bench) -> None:
    bench.sql("CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM record; END")
    assert "trigger 't'" in only(look(bench), "altered-schema").message


def test_a_view_that_shows_something_else_is_an_altered_schema(bench: Bench) -> None:
    bench.sql("DROP VIEW records")
    bench.sql("CREATE VIEW records AS SELECT 'eros' AS agent, 0 AS seq, x'' AS salt, x'' AS body, x'' AS content")
    only(look(bench), "altered-schema")


def test_a_table_of_another_tool_is_a_warning(bench: Bench) -> None:
    bench.sql("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
    report = look(bench)
    only(report, "foreign-table")
    assert report.ok


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_store_that_others_may_read_is_a_warning(bench: Bench) -> None:
    os.chmod(bench.path, 0o644)
    report = look(bench)
    assert "644" in only(report, "open-to-others").message
    assert report.ok


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_folder_in_which_others_may_write_is_a_warning(bench: Bench) -> None:
    os.chmod(os.path.dirname(bench.path), 0o777)  # noqa: S103 - that is the fault
    assert "exchange files" in only(look(bench), "open-to-others").message


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such links")
def test_a_link_is_a_warning(bench: Bench) -> None:
    os.rename(bench.path, bench.path + ".real")
    os.symlink(bench.path + ".real", bench.path)
    assert "is a link" in only(look(bench), "open-to-others").message


# The head.


@pytest.mark.parametrize("note", [b"", b"indelible/local/eros\n", b"\xff\xfe"])
def test_a_head_that_does_not_parse_is_named_and_the_entries_are_read_all_the_same(bench: Bench, note: bytes) -> None:
    bench.sql("UPDATE log SET note = ?", note)
    report = look(bench)
    only(report, "bad-head")
    assert report.agents[0].size == SIZE


def test_the_head_of_another_agent_is_of_another_origin(bench: Bench) -> None:
    other = Bench(bench.root, "rudex")
    other.memory(create=True).save("MEMORY.md", b"mine")
    other.close()
    bench.sql("UPDATE log SET note = (SELECT note FROM log WHERE agent = 'rudex') WHERE agent = 'eros'")
    found = {(finding.agent, finding.slug) for finding in look(bench).findings}
    assert ("eros", "wrong-origin") in found
    assert {agent for agent, _ in found} == {"eros"}


def test_an_agent_who_was_renamed_is_of_another_origin(bench: Bench) -> None:
    bench.sql("UPDATE log SET agent = 'boss'")
    assert "wrong-origin" in slugs(look(bench))


def test_a_signed_head_over_other_entries_has_the_wrong_root(bench: Bench) -> None:
    bench.sql(
        "UPDATE log SET note = ?",
        sign_note(Checkpoint(bench.origin, SIZE, sha256(b"").digest()).format(), bench.signer),
    )
    only(look(bench), "wrong-root")


def test_a_head_of_an_immense_log_is_found_out_and_costs_no_time(bench: Bench) -> None:
    bench.sql(
        "UPDATE log SET note = ?", sign_note(Checkpoint(bench.origin, 2**63 - 1, bytes(32)).format(), bench.signer)
    )
    assert "missing-entry" in slugs(look(bench))


def test_without_a_key_nothing_is_verified(bench: Bench) -> None:
    report = look(bench, keys=())
    only(report, "no-key")
    assert not report.ok


def test_a_head_by_a_stranger_is_by_an_unknown_key(bench: Bench) -> None:
    stranger = signer_of(bench.origin, 9)
    bench.forge(bench.leaves(), stranger)
    assert f"{stranger.key_id:08x}" in only(look(bench), "unknown-key").message


def test_a_head_with_a_false_signature_is_badly_signed(bench: Bench) -> None:
    text = bench.sql("SELECT note FROM log")[0][0].partition(b"\n\n")[0] + b"\n"
    line = bench.signer.sign(text.replace(b"262", b"263")).decode()
    bench.sql("UPDATE log SET note = ?", text + b"\n" + line.encode())
    only(look(bench), "bad-signature")


def test_an_agent_without_a_log_is_a_warning(bench: Bench) -> None:
    report = look(bench, agents=["nobody"])
    only(report, "no-log")
    assert report.ok


def test_a_log_with_an_id_that_none_can_have_is_named(bench: Bench) -> None:
    bench.sql("INSERT INTO log VALUES (?, 'ghost', x'00')", 2**40)
    report = look(bench)
    assert {"bad-head", "no-log"} == slugs(report)


# Against a pin.


def test_an_older_copy_is_a_rollback(bench: Bench) -> None:
    copy = bench.snapshot()
    memory = bench.memory()
    set_pin(memory, None)
    memory.save("late.md", b"later")
    bench.close()
    pin = pin_of(bench)
    bench.put_back(copy)
    assert f"{SIZE + 1} had been accepted" in only(look(bench, pin=pin), "rolled-back").message


def test_another_history_is_a_fork(bench: Bench) -> None:
    pin = pin_of(bench)
    entry = entry_of(bench.leaf(SIZE - 1))
    rewrite(bench, {SIZE - 1: entry._replace(reason="told otherwise")})
    only(look(bench, pin=pin), "forked")


def test_a_fork_is_found_when_the_log_has_grown_since(bench: Bench) -> None:
    pin = Checkpoint(bench.origin, 5, sha256(b"other entries").digest())
    assert "first 5 entries" in only(look(bench, pin=pin), "forked").message


def test_a_pin_within_the_first_full_tile_is_met(bench: Bench) -> None:
    hashes = [leaf_hash(leaf) for leaf in bench.leaves()]
    for size in (1, 5, 255, 256, 257, SIZE):
        assert look(bench, pin=Checkpoint(bench.origin, size, root_of(hashes[:size]))).findings == ()


def test_a_pin_of_another_log_is_a_fork(bench: Bench) -> None:
    pin = Checkpoint("indelible/elsewhere/eros", 5, bytes(32))
    assert "elsewhere" in only(look(bench, pin=pin), "forked").message


def test_a_log_that_was_accepted_and_is_gone_is_missing(bench: Bench) -> None:
    pin = pin_of(bench)
    for table in ("log", "entry", "record", "tile", "op"):
        bench.sql(f"DELETE FROM {table}")
    report = look(bench, pin=pin, agents=["eros"])
    assert f"{SIZE} entries" in only(report, "missing-log").message


def test_a_pin_that_is_lost_is_said_and_the_rest_is_audited(bench: Bench) -> None:
    def pins(_: str) -> Checkpoint:
        raise PinLost("The pin is gone", remedy="Give another")

    report = look(bench, pins=pins)
    assert only(report, "pin-unusable").remedy == "Give another"
    assert report.agents[0].root


def restored(bench: Bench) -> tuple[Checkpoint, Checkpoint]:
    """The owner puts an older copy back, and signs for it: `(the pin of before, the pin of after)`."""
    copy = bench.snapshot()
    memory = bench.memory()
    set_pin(memory, None)
    for number in range(5):
        memory.save(f"late/{number}.md", b"to be given up")
    bench.close()
    before = pin_of(bench)
    bench.put_back(copy)
    restore_store(bench.memory(), bench.owner, reason="the disk died")
    bench.close()
    return before, pin_of(bench)


def test_a_lawful_restore_explains_a_pin_that_is_ahead(bench: Bench) -> None:
    before, _ = restored(bench)
    report = look(bench, pin=before)
    only(report, "pin-abandoned")
    assert report.ok


def test_a_restore_that_somebody_else_signed_explains_nothing(bench: Bench) -> None:
    before, _ = restored(bench)
    word = entry_of(bench.leaf(SIZE))._replace(by=f"{bench.signer.key_id:08x}")
    rewrite(bench, {SIZE: word})
    assert {"unknown-key", "rolled-back"} == slugs(look(bench, pin=before)) - {"missing-operation", "stray-operation"}


def test_the_word_of_a_restore_does_not_cover_a_second_rollback(bench: Bench) -> None:
    """The older copy holds the owner's word, but it is another head that was given up then."""
    _, after = restored(bench)
    copy = bench.snapshot("second")
    memory = bench.memory()
    for number in range(3):
        memory.save(f"later/{number}.md", b"accepted by everybody")
    bench.close()
    pin = pin_of(bench)
    assert pin.size > after.size
    bench.put_back(copy)
    assert "entry 262" in only(look(bench, pin=pin), "rolled-back").remedy


# Entries.


def test_an_entry_that_is_deleted_is_missing(bench: Bench) -> None:
    edit(bench, "DELETE FROM entry WHERE id = ?", 100)
    report = look(bench)
    gone = next(finding for finding in report.findings if finding.slug == "missing-entry")
    assert (gone.seq, gone.message) == (100, "Entry 100 is gone")
    assert report.agents[0].root == ""


def test_a_log_that_is_cut_is_told_as_one_range(bench: Bench) -> None:
    bench.sql("DELETE FROM entry WHERE id >= ?", bench.row_id(200))
    (gone,) = [finding for finding in look(bench).findings if finding.slug == "missing-entry"]
    assert gone.message == f"Entries 200 to {SIZE - 1} are gone"


@pytest.mark.parametrize("leaf", [b"", b"{}" + bytes(64), b"short", b"\xff" * 100])
def test_an_entry_that_is_none_is_a_bad_entry(bench: Bench, leaf: bytes) -> None:
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", leaf, bench.row_id(50))
    assert (50, "bad-entry") in {(finding.seq, finding.slug) for finding in look(bench).findings}


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.replace(b'{"at"', b'{ "at"'),
        lambda body: body.replace(b'"seq":50', b'"seq":50.0'),
        lambda body: body.replace(b'"seq":50', b'"seq":050'),
        lambda body: body.replace(b'"how":"saved"', b'"how":"blessed"'),
        lambda body: body.replace(b'"version":1', b'"version":1,"zeal":1'),
        lambda body: body.replace(b'"reason":null,', b""),
        lambda body: body.replace(b"notes", b"n\\u006ftes"),
        lambda body: body.replace(b"2026-11-30T", b"2026-13-30T"),
        lambda body: body.replace(b'"version":1', b'"version":true'),
    ],
)
def test_an_entry_in_another_spelling_is_a_bad_entry_even_if_the_agent_signed_it(bench: Bench, change: Any) -> None:
    leaves = bench.leaves()
    body = change(leaves[50][:-64])
    assert body != leaves[50][:-64]
    leaves[50] = body + bench.signer.sign_raw(pae(PAYLOAD_TYPE, body))
    bench.forge(leaves, bench.signer)
    assert (50, "bad-entry") in {(finding.seq, finding.slug) for finding in look(bench).findings}


def test_two_entries_that_changed_places_are_misplaced(bench: Bench) -> None:
    one, two = bench.leaf(100), bench.leaf(101)
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", two, bench.row_id(100))
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", one, bench.row_id(101))
    found = {(finding.seq, finding.slug) for finding in look(bench).findings}
    assert {(100, "misplaced-entry"), (101, "misplaced-entry")} <= found


def test_an_entry_of_another_agent_is_misplaced(bench: Bench) -> None:
    entry = entry_of(bench.leaf(100))._replace(origin="indelible/local/rudex")
    rewrite(bench, {100: entry})
    assert (100, "misplaced-entry") in {(finding.seq, finding.slug) for finding in look(bench).findings}


@pytest.mark.parametrize(
    "changes", [{"prev": None, "prev_seq": None}, {"prev": "00" * 32}, {"prev_seq": 3}, {"version": 3}, {"version": 1}]
)
def test_a_version_that_does_not_continue_its_key_breaks_the_chain(bench: Bench, changes: dict[str, Any]) -> None:
    rewrite(bench, {SECOND: entry_of(bench.leaf(SECOND))._replace(**changes)})
    found = {(finding.seq, finding.slug, finding.key) for finding in look(bench).findings}
    assert (SECOND, "broken-chain", "MEMORY.md") in found


def test_a_word_about_a_version_that_is_not_there_breaks_the_chain(bench: Bench) -> None:
    rewrite(bench, {3: entry_of(bench.leaf(3))._replace(version=2)})
    assert (3, "broken-chain") in {(finding.seq, finding.slug) for finding in look(bench).findings}


def test_a_signature_with_one_other_bit_is_bad(bench: Bench) -> None:
    leaf = bytearray(bench.leaf(SIZE - 1))
    leaf[-1] ^= 1
    bench.forge([*bench.leaves()[:-1], bytes(leaf)], bench.signer)
    finding = only(look(bench), "bad-signature")
    assert (finding.seq, finding.key) == (SIZE - 1, f"notes/{SIZE - 7}.md")
    assert look(bench, signatures=False).ok


def test_an_entry_by_a_stranger_is_by_an_unknown_key(bench: Bench) -> None:
    stranger = signer_of("somebody/else")
    entry = entry_of(bench.leaf(SIZE - 1))._replace(by=f"{stranger.key_id:08x}")
    bench.forge([*bench.leaves()[:-1], sign_entry(entry, stranger)], bench.signer)
    assert only(look(bench), "unknown-key").seq == SIZE - 1


@pytest.mark.parametrize("kind", ["key-revoked", "store-restored"])
def test_only_the_owner_speaks_of_revocations_and_restores(bench: Bench, kind: str) -> None:
    before = root_of([leaf_hash(leaf) for leaf in bench.leaves()]).hex()
    subject = f"{bench.signer.key_id:08x}" if kind == "key-revoked" else "00" * 32 + before
    word = Governed(
        "2026-11-30T00:00:00Z", f"{bench.signer.key_id:08x}", 0, "op-1", bench.origin, None, SIZE, subject, kind
    )
    bench.sql("INSERT INTO op VALUES (1, 'op-1', ?)", SIZE)
    bench.forge([*bench.leaves(), sign_entry(word, bench.signer)], bench.signer)
    assert only(look(bench), "unknown-key").seq == SIZE


def test_what_a_stolen_key_left_in_force_is_named(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    memory = bench.memory(create=True)
    memory.save("before.md", b"genuine")
    memory.save("by-thief.md", b"planted")
    memory.save("mended.md", b"planted")
    new = signer_of(bench.origin, 1)
    revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=1, reason="stolen")
    bench.close()
    memory = bench.memory(signer=new)
    memory.save("mended.md", b"genuine again")
    bench.close()
    finding = only(look(bench), "revoked-key")
    assert (finding.key, finding.seq) == ("by-thief.md", 1)


def test_what_a_revoked_key_signs_afterwards_is_refused(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", b"genuine")
    revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", signer_of(bench.origin, 1), from_seq=1, reason="stolen")
    bench.close()
    entry = entry_of(bench.leaf(0))._replace(
        seq=3, version=2, op="op-3", prev=sha256(b"\0" + bench.leaf(0)).hexdigest(), prev_seq=0
    )
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    found = {(finding.seq, finding.slug) for finding in look(bench).findings}
    assert {(3, "revoked-key"), (None, "revoked-key")} <= found


def handed_on(path: Path) -> tuple[Bench, Signer]:
    """A log that was handed to a new key after its first entry."""
    bench = bench_at(path)
    memory = bench.memory(create=True)
    memory.save("MEMORY.md", b"one")
    new = signer_of(bench.origin, 1)
    rotate(memory, bench.signer, new, reason="a new laptop")
    bench.close()
    return bench, new


def test_a_key_from_which_the_log_was_taken_is_retired(tmp_path: Path) -> None:
    bench, new = handed_on(tmp_path)
    late = entry_of(bench.leaf(0))._replace(seq=2, key="late.md", op="op-2")
    bench.sql("INSERT INTO op VALUES (1, 'op-2', 2)")
    bench.sql("INSERT INTO record SELECT id + 2, salt, body, content FROM record")
    bench.forge([*bench.leaves(), sign_entry(late, bench.signer)], new)
    found = {(finding.slug, finding.seq) for finding in look(bench).findings}
    assert found == {("retired-key", 2), ("bad-record", 2)}


def test_a_head_by_a_key_from_which_the_log_was_taken_does_not_count(tmp_path: Path) -> None:
    bench, _ = handed_on(tmp_path)
    bench.forge(bench.leaves(), bench.signer)
    only(look(bench), "unknown-key")


def test_a_reader_who_knows_the_new_key_alone_is_told_what_it_did_not_check(tmp_path: Path) -> None:
    bench, new = handed_on(tmp_path)
    report = look(bench, keys=(Verifier(new.vkey),))
    assert only(report, "unchecked-signature").message.startswith("2 entries")
    assert report.ok
    assert look(bench, keys=(Verifier(signer_of(bench.origin, 2).vkey),)).tampered


def test_a_review_by_a_key_that_nobody_knows_is_told_of_and_is_no_alarm(bench: Bench) -> None:
    reviewer = signer_of("indelible-reviewer/kim")
    memory = bench.memory("writer")
    set_pin(memory, None)
    memory.review(memory.list().items[0].key, "approve", by=reviewer)
    report = look(bench)
    assert only(report, "unknown-reviewer").severity == "warning"
    assert report.ok
    assert not slugs(look(bench, reviewers=(Verifier(reviewer.vkey),)))


@pytest.mark.parametrize("name", ["indelible/local/rudex", "not a key"])
def test_a_log_that_is_handed_to_no_key_of_its_own_is_a_bad_entry(bench: Bench, name: str) -> None:
    subject = signer_of(name).vkey if "/" in name else name
    word = Governed(
        "2026-11-30T00:00:00Z",
        f"{bench.signer.key_id:08x}",
        0,
        "op-1",
        bench.origin,
        None,
        SIZE,
        subject,
        "key-rotated",
    )
    bench.sql("INSERT INTO op VALUES (1, 'op-1', ?)", SIZE)
    bench.forge([*bench.leaves(), sign_entry(word, bench.signer)], bench.signer)
    assert (SIZE, "bad-entry") in {(finding.seq, finding.slug) for finding in look(bench).findings}


def test_a_clock_that_went_back_is_a_warning(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    times = iter(["2026-11-30T00:00:00Z", "2026-11-29T23:59:59Z"])
    bench.clock = lambda: now[0]
    now = [next(times)]
    memory = bench.memory(create=True)
    memory.save("a.md", b"a")
    now[0] = next(times)
    memory.save("b.md", b"b")
    bench.close()
    report = look(bench)
    assert only(report, "clock-backwards").seq == 1
    assert report.ok


# Versions.


def test_a_version_that_is_deleted_is_missing(bench: Bench) -> None:
    edit(bench, "DELETE FROM record WHERE id = ?", SECOND)
    finding = only(look(bench), "missing-record")
    assert (finding.seq, finding.key) == (SECOND, "MEMORY.md")


def test_an_edited_content_is_altered(bench: Bench) -> None:
    edit(bench, "UPDATE record SET content = CAST(content || x'0a' AS BLOB) WHERE id = ?", FIRST)
    finding = only(look(bench), "altered-content")
    assert (finding.seq, finding.key, finding.agent) == (FIRST, "MEMORY.md", "eros")


def test_what_was_altered_and_then_replaced_on_purpose_is_given_up(bench: Bench) -> None:
    """The damage stays in the file and is told; it serves nobody any more, and ends the incident."""
    edit(bench, "UPDATE record SET content = CAST(content || x'0a' AS BLOB) WHERE id = ?", SECOND)
    with bench.memory() as memory:
        set_pin(memory, None)
        memory.save("MEMORY.md", b"a copy that is trusted", how="forced")
    report = look(bench)
    assert (only(report, "given-up-version").severity, report.ok) == ("warning", True)


def test_an_edited_record_is_altered(bench: Bench) -> None:
    edit(
        bench,
        "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'claimed', 'proven!') AS BLOB) WHERE id = ?",
        FIRST,
    )
    only(look(bench), "altered-record")


@pytest.mark.parametrize("salt", ["zeroblob(32)", "x'00'", "x''"])
def test_another_salt_alters_the_version(bench: Bench, salt: str) -> None:
    edit(bench, f"UPDATE record SET salt = {salt} WHERE id = ?", FIRST)
    only(look(bench), "altered-version")


def test_two_versions_that_changed_places_are_altered(bench: Bench) -> None:
    one, two = bench.row_id(FIRST), bench.row_id(SECOND)
    for old, new in ((one, -1), (two, one), (-1, two)):
        bench.sql("UPDATE record SET id = ? WHERE id = ?", new, old)
    report = look(bench)
    assert {finding.seq for finding in report.findings} == {FIRST, SECOND}
    only(report, "altered-version")


@pytest.mark.parametrize(
    "body",
    [
        b'{"key":"another.md","revision":1}',
        b'{"key":"notes/255.md","revision":2}',
        b'{"key":"notes/255.md"}',
        b'{"key":"notes/255.md","revision":1,"size":{"bytes":9999}}',
        b'{"revision":1,"key":"notes/255.md"}',
        b'{"key":"notes/255.md","key":"notes/255.md","revision":1}',
        b'{"key":"notes/255.md","revision":true}',
        b'{"key":"notes/255.md","revision":1.0}',
        b'{"key":"notes/255.md","revision":1} ',
        b"[]",
        b"\xff",
        b"",
        b"[" * 100_000,
    ],
)
def test_a_sealed_record_that_says_otherwise_than_its_entry_is_bad(bench: Bench, body: bytes) -> None:
    seq = SIZE - 1
    salt, content = bench.sql("SELECT salt, content FROM record WHERE id = ?", bench.row_id(seq))[0]
    bench.sql("UPDATE record SET body = ? WHERE id = ?", body, bench.row_id(seq))
    entry = entry_of(bench.leaf(seq))
    assert entry.content == commit(CONTENT_DOMAIN, salt, content).hex()
    rewrite(bench, {seq: entry._replace(record=commit(RECORD_DOMAIN, salt, body).hex())})
    assert only(look(bench), "bad-record").key == "notes/255.md"


def test_what_was_erased_and_is_there_again_is_named(bench: Bench) -> None:
    bench.sql(
        "INSERT INTO record SELECT ?, salt, body, content FROM record WHERE id = ?",
        bench.row_id(SECRET),
        bench.row_id(OLD),
    )
    report = look(bench)
    assert {"erased-still-there", "altered-version"} == slugs(report)
    assert {finding.key for finding in report.findings} == {"secret.md"}


# Derived rows.


def test_a_tile_with_another_hash_is_bad(bench: Bench) -> None:
    bench.sql("UPDATE tile SET hashes = zeroblob(8192)")
    only(look(bench), "bad-tile")


def test_a_tile_that_is_gone_is_missing(bench: Bench) -> None:
    bench.sql("DELETE FROM tile")
    only(look(bench), "missing-tile")


def test_an_operation_that_is_gone_is_missing(bench: Bench) -> None:
    bench.sql("DELETE FROM op WHERE seq = 7")
    assert only(look(bench), "missing-operation").seq == 7


def test_an_operation_that_points_elsewhere_is_wrong(bench: Bench) -> None:
    bench.sql("UPDATE op SET seq = 8 WHERE seq = 7")
    assert only(look(bench), "wrong-operation").seq == 7


# Rows that no head covers.


def test_rows_beyond_the_head_are_strays(bench: Bench) -> None:
    bench.sql("INSERT INTO entry VALUES (?, x'00')", bench.row_id(SIZE))
    bench.sql("INSERT INTO record VALUES (?, x'00', x'00', x'00')", bench.row_id(SIZE + 7))
    bench.sql("INSERT INTO tile VALUES (1, 0, 1, x'00')")
    bench.sql("INSERT INTO op VALUES (1, 'op-x', ?)", SIZE)
    report = look(bench)
    assert slugs(report) == {"stray-entry", "stray-record", "stray-tile", "stray-operation"}
    assert {finding.seq for finding in report.findings} == {SIZE, SIZE + 7, None}


def test_a_version_where_none_was_saved_is_a_stray(bench: Bench) -> None:
    bench.sql("INSERT INTO record VALUES (?, x'00', x'00', x'00')", bench.row_id(3))
    assert only(look(bench), "stray-record").seq == 3


@pytest.mark.parametrize("log", [-(2**22), 0, 5, 2**22])
def test_rows_of_no_log_are_strays_of_the_store(bench: Bench, log: int) -> None:
    bench.sql("INSERT INTO entry VALUES (?, x'00')", log * 2**40 + 3)
    bench.sql("INSERT INTO record VALUES (?, x'00', x'00', x'00')", log * 2**40 + 3)
    bench.sql("INSERT INTO tile VALUES (?, 0, 0, x'00')", log)
    bench.sql("INSERT INTO op VALUES (?, 'op-x', 3)", log)
    report = look(bench)
    assert {finding.agent for finding in report.findings} == {""}
    assert slugs(report) == {"stray-entry", "stray-record", "stray-tile", "stray-operation"}


def test_very_many_findings_of_one_kind_are_counted(bench: Bench) -> None:
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {LIMIT + 500})"
    bench.sql(f"{numbers} INSERT INTO op SELECT 1, 'op-' || i, 3 FROM n")
    report = look(bench)
    assert len(report.findings) == LIMIT + 1
    assert "500 more" in report.findings[-1].message


def test_every_slug_is_brought_about_here_or_with_the_slots() -> None:
    text = ""
    for name in (__file__, *(os.path.join(os.path.dirname(__file__), f"test_{one}.py") for one in ("slots", "facts"))):
        with open(name, encoding="utf-8") as file:
            text += file.read()
    assert {slug for slug in SLUGS if f'"{slug}"' not in text} == set()
