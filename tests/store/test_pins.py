"""The reader's pin: what it proves, and what happens when it is lost, late, full or somebody else's."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.support import NOW, SIDES, Bench, entry_of, finish, or_refused, sign_entry, signer_of, worker

from indelible.entry import Saved
from indelible.errors import (
    BadSignature,
    Busy,
    Forked,
    IntegrityError,
    Malformed,
    Missing,
    PinLost,
    RolledBack,
    Unchecked,
    UsageError,
)
from indelible.memory import governing
from indelible.seal import checkpoint, merkle
from indelible.seal.checkpoint import Checkpoint
from indelible.seal.note import Verifier, parse_note

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.memory import Memory


def saved(bench: Bench, count: int = 3) -> Memory:
    memory = bench.memory(create=True)
    for number in range(count):
        memory.save(f"key {number}", b"content %d" % number)
    return memory


def pinned_size(bench: Bench, reader: str = "first") -> int:
    with closing(apsw.Connection(bench.follower_path(reader), flags=apsw.SQLITE_OPEN_READONLY)) as raw:
        row = raw.execute("SELECT size FROM pin").fetchone()
    return int(row[0]) if row else 0


def head_of(bench: Bench) -> Checkpoint:
    return checkpoint.parse(
        parse_note(bytes(bench.sql("SELECT note FROM log WHERE agent = ?", bench.agent)[0][0])).text
    )


# Signing over what is not known.


def test_a_writer_never_signs_over_a_rolled_back_store(bench: Bench) -> None:
    saved(bench).close()
    copy = bench.snapshot()
    with bench.memory() as memory:
        memory.save("late", b"late")
    bench.put_back(copy)
    before = bench.leaves()
    with bench.memory() as memory, pytest.raises(RolledBack):
        memory.save("more", b"more")
    assert bench.leaves() == before


@pytest.mark.parametrize("looked_first", [True, False])
def test_a_writer_without_a_pin_on_an_existing_log_is_refused(bench: Bench, looked_first: bool) -> None:
    saved(bench)
    before = bench.leaves()
    writer = bench.memory("second")
    if looked_first:
        assert writer.load("key 1").pin_origin == "first-use"
    for write in (lambda: writer.save("x", b"x"), lambda: writer.archive("key 1"), lambda: writer.erase("key 1")):
        with pytest.raises(PinLost, match="pin set"):
            write()
    assert bench.leaves() == before


def test_a_writer_is_let_in_by_a_given_pin_or_by_its_users_word(bench: Bench) -> None:
    memory = saved(bench)
    given = checkpoint.parse(parse_note(memory.checkpoint()).text)
    memory.save("later", b"later")
    trusting = bench.memory("given", trust=bench.trusted(given=given))
    assert trusting.save("x", b"x").seq == 4
    accepting = bench.memory("accepting")
    governing.set_pin(accepting, None)
    assert accepting.save("y", b"y").seq == 5
    setting = bench.memory("setting")
    governing.set_pin(setting, given)
    assert setting.save("z", b"z").seq == 6
    assert [memory.load(key).content for key in "xyz"] == [b"x", b"y", b"z"]


def test_a_given_pin_that_the_store_does_not_continue_is_refused(bench: Bench) -> None:
    saved(bench)
    longer = Checkpoint(bench.origin, 9, b"\1" * 32, ())
    other = Checkpoint(bench.origin, 2, b"\1" * 32, ())
    for given, refusal in ((longer, RolledBack), (other, Forked)):
        reader = bench.memory("second", trust=bench.trusted(given=given))
        with pytest.raises(refusal):
            reader.load("key 1")
        with pytest.raises(refusal):
            governing.set_pin(bench.memory("third"), given)


def test_a_given_pin_is_held_against_the_head_and_not_against_stray_entries(bench: Bench) -> None:
    """A reader first saw a rolled-back copy; then it is given the right pin, and the entries it speaks of lie about."""
    memory = saved(bench)
    bench.close()
    copy = bench.snapshot()
    memory = bench.memory()
    for number in range(3):
        memory.save("key 1", b"new %d" % number)
    given = checkpoint.parse(parse_note(memory.checkpoint()).text)
    newer = [(bench.row_id(seq), bench.leaf(seq)) for seq in (3, 4, 5)]
    bench.put_back(copy)
    with bench.memory("victim") as victim:
        assert victim.load("key 1").content == b"content 1"
    for row in newer:
        bench.sql("INSERT INTO entry VALUES (?, ?)", *row)
    victim = bench.memory("victim", trust=bench.trusted(given=given))
    for refuse in (lambda: victim.verify("key 1"), victim.list, lambda: victim.save("x", b"x")):
        with pytest.raises(RolledBack):
            refuse()
    with or_refused(2):
        assert victim.load("key 1").finding is not None


def test_a_given_pin_that_the_readers_own_does_not_continue_is_refused(bench: Bench) -> None:
    """Two logs that begin alike and part: the reader knows one, and is given the pin of the other."""
    saved(bench).close()
    copy = bench.snapshot()
    with bench.memory() as memory:
        memory.save("theirs", b"theirs")
        given = checkpoint.parse(parse_note(memory.checkpoint()).text)
        leaf = bench.leaf(3)
    bench.put_back(copy)
    bench.memory("victim").load("key 1")
    with bench.memory("other") as other:
        governing.set_pin(other, None)
        other.save("ours", b"ours")
        other.save("ours", b"ours again")
    with bench.memory("victim") as victim:
        assert victim.load("ours").content == b"ours again"
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", leaf, bench.row_id(3))
    victim = bench.memory("victim", trust=bench.trusted(given=given))
    with pytest.raises(IntegrityError):
        victim.list()


def test_a_given_pin_of_nothing_proves_nothing_and_is_refused(bench: Bench) -> None:
    saved(bench)
    empty = Checkpoint(bench.origin, 0, merkle.EMPTY_ROOT, ())
    with pytest.raises(UsageError):
        governing.set_pin(bench.memory("second"), empty)
    with pytest.raises((UsageError, PinLost)):
        bench.memory("third", trust=bench.trusted(given=empty)).save("x", b"x")


def test_a_given_pin_of_another_agent_is_refused(bench: Bench) -> None:
    saved(bench)
    with pytest.raises((UsageError, Unchecked)):
        governing.set_pin(bench.memory("second"), Checkpoint("indelible/local/other", 2, b"\1" * 32, ()))


def test_a_required_pin_that_is_not_there_stops_the_first_read(bench: Bench) -> None:
    memory = saved(bench)
    given = checkpoint.parse(parse_note(memory.checkpoint()).text)
    with pytest.raises(PinLost, match="required"):
        bench.memory("second", trust=bench.trusted(required=True)).load("key 1")
    assert bench.memory("third", trust=bench.trusted(required=True, given=given)).load("key 1").pin_origin == "given"


def test_a_log_that_is_not_there_is_refused_where_a_pin_was_given(bench: Bench) -> None:
    bench.memory(create=True)
    reader = bench.memory("second", trust=bench.trusted(given=Checkpoint(bench.origin, 2, b"\1" * 32, ())))
    with pytest.raises(Missing):
        reader.load("key 1")


def test_nothing_is_believed_when_no_key_is_known(bench: Bench) -> None:
    saved(bench)
    with pytest.raises(Unchecked, match="key trust"):
        bench.memory("second", trust=bench.trusted(agents=())).load("key 1")
    stranger = Verifier(signer_of(bench.origin, 5).vkey)
    with pytest.raises(BadSignature):
        bench.memory("third", trust=bench.trusted(agents=(stranger,))).load("key 1")


# Laundering.


def test_an_edited_tile_never_gets_under_a_signature(bench: Bench) -> None:
    memory = bench.memory(create=True)
    for number in range(257):
        memory.save(f"key {number}", b"x")
    bench.sql("UPDATE tile SET hashes = zeroblob(length(hashes))")
    for number in range(257, 520):
        memory.save(f"key {number}", b"x")
    leaves = bench.leaves()
    assert head_of(bench).root == merkle.root_of([merkle.leaf_hash(leaf) for leaf in leaves])
    assert bench.memory("second").load("key 519").content == b"x"
    with pytest.raises(Malformed, match="tiles"):
        memory.proof("key 3")


def test_without_its_tiles_a_store_proves_all_the_same(bench: Bench) -> None:
    memory = bench.memory(create=True)
    for number in range(300):
        memory.save(f"key {number}", b"x")
    bench.sql("DELETE FROM tile")
    leaf, proof = memory.proof("key 3")
    proof.verify(merkle.leaf_hash(leaf), (Verifier(bench.signer.vkey),), bench.origin)


def test_an_edited_entry_never_gets_under_a_signature(bench: Bench) -> None:
    memory = saved(bench, 5)
    genuine = [merkle.leaf_hash(leaf) for leaf in bench.leaves()]
    bench.sql("UPDATE entry SET leaf = ? WHERE id = ?", bench.leaf(1).replace(b"2026", b"2025"), bench.row_id(1))
    memory.save("later", b"later")
    assert head_of(bench).root == merkle.root_of([*genuine, merkle.leaf_hash(bench.leaf(5))])
    with pytest.raises((Forked, Malformed)):
        bench.memory("second").load("later")


# A lost pin.


def remove(path: str) -> None:
    for side in SIDES:
        if os.path.exists(path + side):
            os.unlink(path + side)


def overwrite(path: str, content: bytes) -> None:
    remove(path)
    with open(path, "wb") as file:
        file.write(content)


def execute(path: str, statement: str) -> None:
    with closing(apsw.Connection(path)) as raw:
        raw.execute(statement)


SPOIL: dict[str, Callable[[str], None]] = {
    "removed": remove,
    "emptied": lambda path: overwrite(path, b""),
    "overwritten": lambda path: overwrite(path, os.urandom(8192)),
    "without its row": lambda path: execute(path, "DELETE FROM pin"),
    "without its table": lambda path: execute(path, "DROP TABLE pin"),
}


@pytest.mark.parametrize("how", SPOIL)
def test_a_lost_pin_is_an_error_and_never_a_silent_first_use(bench: Bench, how: str) -> None:
    saved(bench)
    bench.close()
    before = bench.leaves()
    SPOIL[how](bench.follower_path())
    uses: list[Callable[[Memory], object]] = [
        lambda memory: memory.load("key 1"), lambda memory: memory.list(), lambda memory: memory.history("key 1"),
        lambda memory: memory.verify("key 1"), lambda memory: memory.save("x", b"x"), lambda memory: memory.checkpoint(),
    ]  # fmt: skip
    for use in uses:
        with bench.memory() as memory:
            with pytest.raises(PinLost, match="indelible pin set") as lost:
                use(memory)
            assert lost.value.exit_code == 1
    assert bench.leaves() == before


@pytest.mark.parametrize("how", SPOIL)
def test_a_lost_pin_is_mended_by_the_users_own_word(bench: Bench, how: str) -> None:
    saved(bench)
    bench.close()
    SPOIL[how](bench.follower_path())
    governing.set_pin(bench.memory(), None)
    memory = bench.memory()
    assert memory.load("key 1").content == b"content 1"
    memory.save("x", b"x")


def test_a_pin_that_was_half_made_is_no_lost_pin(bench: Bench) -> None:
    saved(bench)
    path = bench.follower_path("second")
    os.makedirs(os.path.dirname(path), mode=0o700)
    open(path, "wb").close()
    assert bench.memory("second").load("key 1").content == b"content 1"


def test_a_pin_of_another_place_is_not_asked(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two machines, one store: each its own pin, both right."""
    saved(bench)
    assert bench.memory("second").load("key 1").content == b"content 1"
    bench.memory("first").save("key 1", b"new")
    assert bench.memory("second").load("key 1").content == b"new"
    assert (pinned_size(bench), pinned_size(bench, "second")) == (4, 4)


# Crash between commit and pin.


def test_after_a_crash_between_commit_and_pin_the_next_read_catches_up(bench: Bench) -> None:
    saved(bench)
    bench.close()
    code, _, _ = finish(worker(bench, "die_before_pin", "late"))
    assert code == 77
    assert pinned_size(bench) == 3
    memory = bench.memory()
    assert "late의".encode() in memory.load("late").content
    assert pinned_size(bench) == 4
    assert memory.save("late", memory.load("late").content, op="op-late").repeated
    assert len(bench.leaves()) == 4


def test_after_a_crash_between_commit_and_pin_the_next_save_goes_on(bench: Bench) -> None:
    saved(bench)
    bench.close()
    finish(worker(bench, "die_before_pin", "late"))
    memory = bench.memory()
    assert memory.save("later", b"later").seq == 4
    assert memory.save("late", b"changed").version == 2


def test_a_crash_between_the_very_first_commit_and_its_pin_locks_nobody_out(bench: Bench) -> None:
    bench.memory(create=True).close()
    finish(worker(bench, "die_before_pin", "late"))
    assert len(bench.leaves()) == 1
    memory = bench.memory()
    assert memory.load("late").version == 1
    assert memory.save("late", b"changed").version == 2


def test_the_pin_follows_the_commit_and_never_leads_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = saved(bench)
    commit = memory.store._commit  # type: ignore[attr-defined]
    seen: list[int] = []

    def watched(*args: object) -> None:
        seen.append(pinned_size(bench))
        commit(*args)

    monkeypatch.setattr(memory.store, "_commit", watched)
    memory.save("a", b"a")
    memory.save("b", b"b")
    assert seen == [3, 4]
    assert pinned_size(bench) == 5


def test_a_pin_that_is_behind_is_never_ahead_of_what_is_refused(bench: Bench) -> None:
    """A log that goes on genuinely and then breaks: nothing of the new part is accepted."""
    memory = saved(bench)
    reader = bench.memory("second")
    reader.load("key 1")
    for number in range(5):
        memory.save(f"new {number}", b"new")
    bench.sql("UPDATE entry SET leaf = x'00' WHERE id = ?", bench.row_id(6))
    with pytest.raises(IntegrityError):
        reader.load("new 1")
    assert pinned_size(bench, "second") == 3
    assert reader.load("key 1").finding is not None


def test_a_pin_never_goes_backward_when_an_older_head_is_shown(bench: Bench) -> None:
    saved(bench).close()
    copy = bench.snapshot()
    with bench.memory() as memory:
        memory.save("late", b"late")
    bench.put_back(copy)
    memory = bench.memory()
    for use in (lambda: memory.load("late"), memory.list, lambda: memory.save("x", b"x")):
        with pytest.raises(RolledBack):
            use()
    assert pinned_size(bench) == 4


# Where the pin cannot be kept.


def fill(folder: str) -> None:
    """Leave no byte free on the disk of `folder`."""
    with open(os.path.join(folder, "ballast"), "wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096):
                pass
        except OSError:
            return


def test_a_full_pin_disk_is_a_warning_and_not_a_failed_save(
    bench: Bench, small_disk: Callable[[str, str], str]
) -> None:
    folder = small_disk(os.path.join(bench.root, "readers", "first"), "400k")
    memory = saved(bench, 3)
    assert memory.warning == ""
    fill(folder)
    warnings = [memory.save(f"n{number}", b"y" * 200).warnings for number in range(300)]
    assert "could not be kept" in warnings[-1][0]
    assert "could not be kept" in memory.warning
    assert memory.load("n299").content == b"y" * 200
    assert len(memory.list().items) == 303


def test_a_full_pin_disk_is_a_warning_for_the_next_process_too(
    bench: Bench, small_disk: Callable[[str, str], str]
) -> None:
    folder = small_disk(os.path.join(bench.root, "readers", "first"), "200k")
    saved(bench, 3)
    bench.close()
    fill(folder)
    memory = bench.memory()
    assert memory.load("key 1").content == b"content 1"
    number = 0
    while not memory.save(f"n{number}", b"x").warnings:
        number += 1
    assert "could not be kept" in memory.warning
    assert memory.load(f"n{number}").content == b"x"


def test_with_a_full_pin_disk_a_rollback_is_noticed_by_the_same_process(
    bench: Bench, small_disk: Callable[[str, str], str]
) -> None:
    folder = small_disk(os.path.join(bench.root, "readers", "first"), "200k")
    memory = saved(bench, 3)
    fill(folder)
    copy = bench.snapshot("0")
    number = 0
    while not memory.warning:
        memory.store.close()
        shutil.rmtree(copy)
        copy = bench.snapshot("0")
        memory.save(f"n{number}", b"y" * 200)
        number += 1
    memory.store.close()
    made, bench.made = bench.made, []
    bench.put_back(copy)
    bench.made = made
    with pytest.raises(RolledBack):
        memory.load(f"n{number - 1}")


def test_a_first_follow_that_does_not_fit_on_the_pins_disk_still_reads(
    bench: Bench, small_disk: Callable[[str, str], str]
) -> None:
    memory = bench.memory(create=True)
    for number in range(1500):
        memory.save(f"key {number:080}", b"x")
    small_disk(os.path.join(bench.root, "readers", "second"), "200k")
    for _ in range(2):
        reader = bench.memory("second")
        assert reader.load(f"key {7:080}").content == b"x"
        assert "could not be kept" in reader.warning
        reader.close()


def test_a_first_follow_in_batches_that_does_not_fit_forgets_no_key(
    bench: Bench, small_disk: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indelible.store.follow.BATCH", 1200)
    memory = bench.memory(create=True)
    for number in range(1300):
        memory.save(f"key {number:080}", b"x")
    small_disk(os.path.join(bench.root, "readers", "second"), "200k")
    reader = bench.memory("second")
    for number in (1299, 7, 1199, 1200):
        assert reader.load(f"key {number:080}").content == b"x"
    assert len(reader.list().items) == 1300
    assert "could not be kept" in reader.warning


def test_a_first_follow_that_is_too_big_for_memory_and_disk_says_which_disk(
    bench: Bench, small_disk: Callable[[str, str], str]
) -> None:
    """More rows than SQLite keeps in memory: they are written out, and refused, while the log is still followed."""
    memory = bench.memory(create=True)
    for number in range(3000):
        memory.save(f"key {number:0490}", b"x")
    small_disk(os.path.join(bench.root, "readers", "second"), "200k")
    reader = bench.memory("second")
    assert reader.load(f"key {7:0490}").content == b"x"
    assert "could not be kept" in reader.warning


def test_a_state_folder_that_cannot_be_made_is_a_warning(bench: Bench) -> None:
    saved(bench)
    os.makedirs(os.path.join(bench.root, "readers", "second"))
    open(os.path.join(bench.root, "readers", "second", "followers"), "wb").close()
    reader = bench.memory("second")
    assert reader.load("key 1").content == b"content 1"
    assert "could not be kept" in reader.warning


@pytest.mark.parametrize("grown", [False, True])
def test_a_pin_on_a_read_only_disk_still_guards(
    bench: Bench, small_disk: Callable[[str, str], str], grown: bool
) -> None:
    import subprocess

    saved(bench)
    folder = small_disk(os.path.join(bench.root, "readers", "second"), "1m")
    bench.memory("second").load("key 1")
    bench.close()
    copy = bench.snapshot()
    bench.memory().save("key 1", b"new")
    bench.close()
    if grown:
        bench.memory("second").load("key 1")
        bench.close()
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    reader = bench.memory("second")
    assert reader.load("key 1").content == b"new"
    assert grown or "could not be kept" in reader.warning
    bench.put_back(copy)
    reader = bench.memory("second")
    if grown:
        with pytest.raises(RolledBack):
            reader.load("key 1")
    else:
        assert reader.load("key 1").content == b"content 1"


def test_a_pin_that_is_in_use_is_busy_and_not_lost(bench: Bench) -> None:
    memory = saved(bench)
    with closing(apsw.Connection(bench.follower_path())) as raw:
        raw.execute("BEGIN IMMEDIATE")
        assert memory.load("key 1").content == b"content 1"
        assert memory.follower._connection is not None
        memory.follower._connection.set_busy_timeout(50)
        with pytest.raises(Busy):
            memory.save("x", b"x")


def test_a_link_in_the_place_of_the_pin_is_not_followed(bench: Bench) -> None:
    saved(bench)
    path = bench.follower_path("second")
    os.makedirs(os.path.dirname(path))
    target = os.path.join(bench.root, "somewhere")
    os.symlink(target, path)
    reader = bench.memory("second")
    assert reader.load("key 1").content == b"content 1"
    assert not os.path.exists(target)
    assert "could not be kept" in reader.warning


def test_a_server_that_attested_first_makes_no_named_key_wrong(bench: Bench) -> None:
    saved(bench)
    server, other = signer_of("indelible-server/host"), signer_of(bench.origin, 7)
    trust = bench.trusted(agents=(Verifier(other.vkey), Verifier(bench.signer.vkey)), servers=(Verifier(server.vkey),))
    leaves = bench.leaves()
    bench.forge(leaves, server)
    assert bench.memory("second", trust=trust).list().findings == ()
    bench.forge(leaves, bench.signer)
    assert bench.memory("second", trust=trust).list().findings == ()


# Forgeries by a server that a reader trusts for attesting.


def test_a_server_may_attest_but_never_sign_as_the_agent(bench: Bench) -> None:
    saved(bench)
    server = signer_of("indelible-server/host")
    trust = bench.trusted(servers=(Verifier(server.vkey),))
    content, record = b"\1" * 32, b"\2" * 32
    entry = Saved(
        NOW,
        f"{bench.signer.key_id:08x}",
        content.hex(),
        "saved",
        "new",
        "op",
        bench.origin,
        None,
        None,
        None,
        record.hex(),
        3,
        "saved",
        1,
    )
    bench.forge([*bench.leaves(), sign_entry(entry, server)], server)
    with pytest.raises(BadSignature):
        bench.memory("second", trust=trust).list()


@pytest.mark.parametrize("by", ["zz", "", "1_0", "+1", "ffffffffffff"])
def test_an_entry_by_a_key_id_that_is_none_is_refused(bench: Bench, by: str) -> None:
    saved(bench)
    server = signer_of("indelible-server/host")
    trust = bench.trusted(servers=(Verifier(server.vkey),))
    entry = entry_of(bench.leaf(2))._replace(by=by, seq=3, key="new", op="op")
    bench.forge([*bench.leaves(), sign_entry(entry, server)], server)
    with pytest.raises(IntegrityError):
        bench.memory("second", trust=trust).list()
