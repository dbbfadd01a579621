"""What changes the ground a log stands on: pins that are set, keys that change, a store that was lawfully restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import NOW, Bench, entry_of, sign_entry, signer_of

from indelible.entry import Governed
from indelible.errors import (
    BadSignature,
    Forked,
    IndelibleError,
    IntegrityError,
    Malformed,
    NotFoundError,
    PinLost,
    RolledBack,
    UsageError,
)
from indelible.memory import governing
from indelible.seal import checkpoint
from indelible.seal.note import Verifier, parse_note

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.seal.note import Signer


def vkeys(*signers: Signer) -> tuple[Verifier, ...]:
    return tuple(Verifier(signer.vkey) for signer in signers)


@pytest.fixture
def new(bench: Bench) -> Signer:
    """The agent's next key."""
    return signer_of(bench.origin, 1)


def save_all(memory: Memory, *keys: str) -> None:
    for key in keys:
        memory.save(key, f"content of {key}".encode())


# Pins.


def test_a_pin_is_shown_set_and_compared(bench: Bench, memory: Memory) -> None:
    assert governing.present_pin(memory) is None
    save_all(memory, "a", "b")
    pin = governing.present_pin(memory)
    assert pin is not None
    assert (pin.size, pin.origin) == (2, "own")
    given = checkpoint.parse(parse_note(memory.checkpoint()).text)
    save_all(memory, "c")
    other = bench.memory("second")
    assert governing.set_pin(other, given).size == 3
    pin = governing.present_pin(other)
    assert pin is not None
    assert (pin.size, pin.origin) == (3, "given")
    assert other.load("c").pin_origin == "given"


def test_a_pin_that_cannot_be_set_leaves_the_one_of_before(bench: Bench, memory: Memory) -> None:
    save_all(memory, "a", "b")
    before = governing.present_pin(memory)
    for given in (
        checkpoint.Checkpoint(bench.origin, 2, b"\1" * 32, ()),
        checkpoint.Checkpoint(bench.origin, 9, b"\1" * 32, ()),
    ):
        with pytest.raises(IntegrityError):
            governing.set_pin(memory, given)
    assert governing.present_pin(memory) == before
    assert memory.load("a").content == b"content of a"
    save_all(memory, "c")


def test_a_pin_of_a_store_without_a_log_is_not_set(memory: Memory) -> None:
    with pytest.raises(NotFoundError):
        governing.set_pin(memory, None)


# Keys.


def test_after_a_rotation_the_new_key_writes_and_everybody_reads(bench: Bench, memory: Memory, new: Signer) -> None:
    save_all(memory, "a")
    followers = {name: bench.memory(name) for name in ("away",)}
    followers["away"].load("a")
    governing.rotate(memory, bench.signer, new, reason="yearly")
    rotated = bench.memory(signer=new)
    save_all(rotated, "b")
    readers = [
        rotated, memory, followers["away"],
        bench.memory("knows the old key", trust=bench.trusted(agents=vkeys(bench.signer))),
        bench.memory("knows both", trust=bench.trusted(agents=vkeys(bench.signer, new))),
    ]  # fmt: skip
    for reader in readers:
        assert [reader.load(key).content for key in "ab"] == [b"content of a", b"content of b"]
        listing = reader.list()
        assert listing.findings == ()
        assert [item.attested for item in listing.items] == ["agent", "agent"]


def test_after_a_rotation_the_old_key_signs_nothing_more(bench: Bench, memory: Memory, new: Signer) -> None:
    save_all(memory, "a")
    governing.rotate(memory, bench.signer, new, reason="yearly")
    reader = bench.memory("second")
    reader.load("a")
    entry = entry_of(bench.leaf(0))._replace(seq=2, key="z", op="z")
    genuine = bench.leaves()
    bench.forge([*genuine, sign_entry(entry, bench.signer)], bench.signer)
    for name in ("second", "fresh"):
        with pytest.raises((BadSignature, Forked)):
            bench.memory(name).list()
    bench.forge(genuine, new)
    with pytest.raises(IntegrityError):
        memory.save("b", b"by the old key")
    assert bench.memory("third").list().findings == ()


@pytest.mark.parametrize("by", ["the retired key", "a key that nobody knows", "a forger of the signature"])
@pytest.mark.parametrize("reader", ["away", "fresh"])
def test_a_retired_key_does_not_hand_the_log_back_to_itself(
    bench: Bench, memory: Memory, new: Signer, by: str, reader: str
) -> None:
    """Whoever finds an old key and can write the store must not come into force with it again."""
    save_all(memory, "a")
    governing.rotate(memory, bench.signer, new, reason="yearly")
    trust = bench.trusted(agents=vkeys(bench.signer, new))
    with bench.memory("away", trust=trust) as away:
        away.load("a")
    signer = {"the retired key": bench.signer, "a key that nobody knows": signer_of(bench.origin, 99)}.get(by)
    claimed = signer or new
    back = Governed(NOW, f"{claimed.key_id:08x}", 0, "op", bench.origin, None, 2, bench.signer.vkey, "key-rotated")
    bench.forge([*bench.leaves(), sign_entry(back, signer or bench.signer)], bench.signer)
    with pytest.raises(IntegrityError):
        bench.memory(reader, trust=trust).list()


def test_a_retired_key_and_a_dishonest_server_do_not_speak_for_the_agent(
    bench: Bench, memory: Memory, new: Signer
) -> None:
    save_all(memory, "a")
    governing.rotate(memory, bench.signer, new, reason="yearly")
    server = signer_of("indelible-server/host")
    trust = bench.trusted(agents=vkeys(bench.signer, new), servers=vkeys(server))
    entry = entry_of(bench.leaf(0))._replace(seq=2, key="z", op="z")
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], server)
    with pytest.raises(IntegrityError):
        bench.memory("fresh", trust=trust).list()


def test_a_rotation_that_a_stranger_signs_is_refused(bench: Bench, memory: Memory, new: Signer) -> None:
    save_all(memory, "a")
    thief = signer_of(bench.origin, 666)
    entry = Governed(NOW, f"{thief.key_id:08x}", 0, "op", bench.origin, None, 1, thief.vkey, "key-rotated")
    bench.forge([*bench.leaves(), sign_entry(entry, thief)], thief)
    for reader in (memory, bench.memory("second")):
        with pytest.raises(BadSignature):
            reader.list()


def test_a_rotation_to_a_key_of_another_name_is_refused(bench: Bench, memory: Memory) -> None:
    save_all(memory, "a")
    other = signer_of("indelible/local/other")
    entry = Governed(NOW, f"{bench.signer.key_id:08x}", 0, "op", bench.origin, None, 1, other.vkey, "key-rotated")
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    with pytest.raises(BadSignature):
        bench.memory("second").list()


@pytest.mark.parametrize("subject", ["", "no key", "indelible/local/eros+00000000+AAAA"])
def test_a_rotation_to_what_is_no_key_is_refused(bench: Bench, memory: Memory, subject: str) -> None:
    save_all(memory, "a")
    entry = Governed(NOW, f"{bench.signer.key_id:08x}", 0, "op", bench.origin, None, 1, subject, "key-rotated")
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    with pytest.raises(IntegrityError):
        bench.memory("second").list()


@pytest.mark.parametrize("kind", ["key-revoked", "store-restored"])
def test_what_only_the_owner_may_say_is_refused_from_the_agent(bench: Bench, memory: Memory, kind: str) -> None:
    save_all(memory, "a")
    subject = f"{bench.signer.key_id:08x}" if kind == "key-revoked" else "00" * 64
    entry = Governed(NOW, f"{bench.signer.key_id:08x}", 0, "op", bench.origin, None, 1, subject, kind)
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    for reader in (memory, bench.memory("second")):
        with pytest.raises(BadSignature, match="not trusted for that"):
            reader.list()


def test_what_a_thief_saved_is_refused_everywhere_once_the_key_is_revoked(
    bench: Bench, memory: Memory, new: Signer
) -> None:
    save_all(memory, "a", "b")
    memory.save("b", b"the thief says")
    memory.save("c", b"the thief says too")
    away = bench.memory("away")
    away.load("b")
    governing.revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=2, reason="stolen")
    readers = [
        memory, bench.memory(signer=new), away, bench.memory("fresh"),
        bench.memory("fresh new", trust=bench.trusted(agents=vkeys(new))),
        bench.memory("fresh both", trust=bench.trusted(agents=vkeys(bench.signer, new))),
    ]  # fmt: skip
    for reader in readers:
        assert reader.load("a").content == b"content of a"
        for key in "bc":
            with pytest.raises(IntegrityError) as refused:
                reader.load(key)
            assert refused.value.slug == "revoked-key"
        with pytest.raises(IntegrityError):
            reader.load("b", 2)
        assert reader.load("b", 1).content == b"content of b"
        listing = reader.list()
        assert [item.key for item in listing.items] == ["a"]
        assert [finding.facts["key"] for finding in listing.findings] == ["b", "c"]


def test_what_a_thief_saved_is_mended_by_the_new_key(bench: Bench, memory: Memory, new: Signer) -> None:
    save_all(memory, "b")
    memory.save("b", b"the thief says")
    governing.revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=1, reason="stolen")
    mended = bench.memory(signer=new)
    with pytest.raises(IntegrityError):
        mended.restore("b", 2)
    mended.restore("b", 1)
    assert mended.load("b").content == b"content of b"
    assert bench.memory("fresh").list().findings == ()


def test_a_revoked_key_signs_nothing_more(bench: Bench, memory: Memory, new: Signer) -> None:
    save_all(memory, "a", "b")
    governing.revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=2, reason="stolen")
    entry = entry_of(bench.leaf(0))._replace(seq=4, key="z", op="z")
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    for reader in (bench.memory("fresh"), memory):
        with pytest.raises(BadSignature):
            reader.list()


def test_a_thief_who_rotated_to_a_key_of_his_own_goes_with_the_stolen_one(
    bench: Bench, memory: Memory, new: Signer
) -> None:
    save_all(memory, "a", "b")
    thief = signer_of(bench.origin, 666)
    governing.rotate(memory, bench.signer, thief, reason="by the thief")
    save_all(bench.memory(signer=thief), "evil")
    governing.revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=2, reason="stolen")
    governing.revoke(bench.memory(signer=new), bench.owner, f"{thief.key_id:08x}", new, from_seq=0, reason="never ours")
    for name in ("first", "fresh"):
        reader = bench.memory(name, signer=new)
        assert reader.load("a").content == b"content of a"
        with pytest.raises(IntegrityError):
            reader.load("evil")
    entry = entry_of(bench.leaf(0))._replace(seq=len(bench.leaves()), key="z", op="z", by=f"{thief.key_id:08x}")
    bench.forge([*bench.leaves(), sign_entry(entry, thief)], thief)
    for name in ("first", "another"):
        with pytest.raises(BadSignature):
            bench.memory(name, signer=new).list()


# A lawful restore.


@pytest.fixture
def copy(bench: Bench, memory: Memory) -> str:
    """A copy of 3 entries (a, b, c); the store goes on to 6 (c again, d, e)."""
    save_all(memory, "a", "b", "c")
    bench.close()
    copied = bench.snapshot()
    memory = bench.memory()
    memory.save("c", b"newer c")
    save_all(memory, "d", "e")
    bench.close()
    return copied


def restored(bench: Bench, copy: str) -> Memory:
    bench.put_back(copy)
    memory = bench.memory()
    with pytest.raises(RolledBack):
        memory.load("c")
    governing.restore_store(memory, bench.owner, reason="the disk died")
    return memory


def test_a_restored_store_is_accepted_on_the_owners_signed_word_only(bench: Bench, copy: str) -> None:
    memory = restored(bench, copy)
    assert memory.load("c").content == b"content of c"
    assert memory.list().findings == ()
    save_all(memory, "f")
    entry = entry_of(bench.leaf(3))
    assert (entry.type, entry.index, entry.reason) == ("store-restored", 6, "the disk died")
    assert bench.memory("fresh").list().findings == ()


def test_a_restore_signed_by_somebody_else_is_refused(bench: Bench, copy: str) -> None:
    bench.put_back(copy)
    memory = bench.memory()
    before = bench.leaves()
    with pytest.raises(IndelibleError):
        governing.restore_store(memory, signer_of("indelible-owner/somebody"), reason="trust me")
    assert bench.leaves() == before
    with pytest.raises(RolledBack):
        bench.memory().load("c")


@pytest.mark.parametrize("by", ["a stranger", "the agent"])
def test_a_revocation_signed_by_somebody_else_is_never_written(
    bench: Bench, memory: Memory, new: Signer, by: str
) -> None:
    save_all(memory, "a")
    before = bench.leaves()
    signer = bench.signer if by == "the agent" else signer_of("indelible-owner/somebody")
    with pytest.raises(IndelibleError):
        memory.govern("key-revoked", f"{bench.signer.key_id:08x}", 0, by=signer, head_by=new)
    assert bench.leaves() == before
    assert memory.load("a").content == b"content of a"


@pytest.mark.parametrize("more", [0, 1, 2, 3, 4, 9])
def test_a_reader_who_was_away_accepts_the_restored_store_however_long_it_has_grown(
    bench: Bench, copy: str, more: int
) -> None:
    with bench.memory("away") as away:
        away.load("e")
    memory = restored(bench, copy)
    save_all(memory, *(f"new {number}" for number in range(more)))
    away = bench.memory("away")
    assert away.load("c").content == b"content of c"
    assert away.load("c").finding is None
    assert [item.key for item in away.list().items] == ["a", "b", "c", *(f"new {number}" for number in range(more))]
    with pytest.raises(NotFoundError):
        away.load("d")


def test_a_writer_who_was_away_goes_on_writing_after_a_restore(bench: Bench, copy: str) -> None:
    bench.put_back(copy)
    writer = bench.memory("writer")
    governing.set_pin(writer, None)
    bench.close()
    memory = bench.memory()
    with pytest.raises(RolledBack):
        memory.load("c")
    governing.restore_store(memory, bench.owner, reason="the disk died")
    save_all(bench.memory("writer"), "g")
    assert memory.load("g").content == b"content of g"


def test_a_reader_who_knew_more_than_was_given_up_is_not_overruled(bench: Bench, copy: str) -> None:
    with bench.memory("ahead") as ahead:
        ahead.load("e")
        governing.set_pin(ahead, None)
        save_all(ahead, "only the other machine knows")
    memory = restored(bench, copy)
    assert memory.load("c").content == b"content of c"
    with pytest.raises((RolledBack, Forked)):
        bench.memory("ahead").list()


def test_a_lawful_restore_is_no_licence_for_later_rollbacks(bench: Bench, copy: str) -> None:
    memory = restored(bench, copy)
    memory.save("c", b"one")
    bench.close()
    older = bench.snapshot("older")
    bench.memory().save("c", b"two")
    bench.memory("second").load("c")
    bench.put_back(older)
    for name in ("first", "second"):
        with pytest.raises(RolledBack):
            bench.memory(name).load("c")
        with pytest.raises(RolledBack):
            bench.memory(name).list()


def test_the_copy_of_before_the_restore_is_a_rollback_too(bench: Bench, copy: str) -> None:
    restored(bench, copy)
    bench.put_back(copy)
    for use in (lambda: bench.memory().list(), lambda: bench.memory().save("x", b"x")):
        with pytest.raises(RolledBack):
            use()


def test_a_second_lawful_restore_is_accepted_like_the_first(bench: Bench, copy: str) -> None:
    with bench.memory("away") as away:
        away.load("e")
    memory = restored(bench, copy)
    save_all(memory, "f", "g", "lost")
    bench.put_back(copy)
    memory = bench.memory()
    governing.restore_store(memory, bench.owner, reason="the disk died again")
    assert memory.list().findings == ()
    assert bench.memory("away").list().findings == ()
    save_all(memory, "h")
    assert bench.memory("away").load("h").content == b"content of h"


def test_a_restore_does_not_bring_a_revoked_key_back(bench: Bench, copy: str, new: Signer) -> None:
    """A thief must not be let in again because a disk died."""
    bench.put_back(copy)
    memory = bench.memory("owner's own", signer=new)
    governing.set_pin(memory, None)
    older = bench.snapshot("older")
    governing.revoke(memory, bench.owner, f"{bench.signer.key_id:08x}", new, from_seq=3, reason="stolen")
    bench.put_back(older)
    memory = bench.memory("owner's own", signer=new)
    governing.restore_store(memory, bench.owner, reason="the disk died")
    entry = entry_of(bench.leaf(0))._replace(seq=len(bench.leaves()), key="z", op="z")
    bench.forge([*bench.leaves(), sign_entry(entry, bench.signer)], bench.signer)
    with pytest.raises(IntegrityError):
        bench.memory("owner's own", signer=new).load("z")


def test_nothing_is_restored_where_nothing_is_behind(bench: Bench, memory: Memory) -> None:
    save_all(memory, "a")
    with pytest.raises(UsageError, match="nothing to restore"):
        governing.restore_store(memory, bench.owner, reason="why not")
    with pytest.raises(PinLost):
        governing.restore_store(bench.memory("second"), bench.owner, reason="why not")


def test_another_log_is_not_accepted_as_a_restore(
    bench: Bench, memory: Memory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    save_all(memory, "a", "b", "c")
    elsewhere = Bench(str(tmp_path_factory.mktemp("elsewhere")))
    with elsewhere.memory(create=True) as other:
        save_all(other, "x")
    bench.put_back(elsewhere.snapshot())
    with pytest.raises((UsageError, IntegrityError)):
        governing.restore_store(bench.memory(), bench.owner, reason="the disk died")
    with pytest.raises((RolledBack, Forked)):
        bench.memory().list()


@pytest.mark.parametrize("kind", ["saved", "archived", "anything"])
def test_only_what_governs_a_log_is_said_about_it(bench: Bench, memory: Memory, kind: str) -> None:
    save_all(memory, "a")
    with pytest.raises(UsageError):
        memory.govern(kind, "x", 0, by=bench.owner)
    assert len(bench.leaves()) == 1


def test_an_entry_of_no_known_type_is_refused(bench: Bench, memory: Memory) -> None:
    save_all(memory, "a")
    body = bench.leaf(0)[:-64].replace(b'"type":"saved"', b'"type":"praised"').replace(b'"seq":0', b'"seq":1')
    bench.forge([*bench.leaves(), body + bytes(64)], bench.signer)
    with pytest.raises(Malformed):
        memory.list()
