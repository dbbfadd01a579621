"""No secret enters by the library, in any of its places, in any file; and an origin is not raised (O-SEC-01, O-SEC-06)."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import traces

from indelible.errors import ConflictError, NotFoundError, OriginRaised, SecretRefused
from indelible.memory.entering import is_masked
from indelible.record import Link, Origin, Record, draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Bench

    from indelible.memory import Memory

SECRET = "ghp_" + "Zz09" * 9
TEXT = f"# Notes\n\nThe token: {SECRET}\nThe rest is plain.\n".encode()
MASKED = b"# Notes\n\nThe token: [masked: github-token]\nThe rest is plain.\n"


def clean(bench: Bench) -> bool:
    return not traces(bench.root, SECRET.encode(), TEXT)


def making(memory: Memory, key: str, **changes: Any) -> Callable[[Record | None], Record]:
    """A maker of records that says more than a plain one."""

    def make(earlier: Record | None) -> Record:
        made = memory.revise(earlier, b"text") if earlier else draft(
            key, b"text", agent="eros", author="agent:eros", now="2026-11-30T00:00:00Z", random=os.urandom(10)
        )  # fmt: skip
        return replace(made, **changes)

    return make


def of(memory: Memory, key: str, origin: str | None) -> Callable[[Record | None], Record]:
    return making(memory, key, origin=Origin(class_=origin))


PLACES: dict[str, dict[str, Any]] = {
    "title": {"title": f"my {SECRET}"}, "tag": {"tags": ("ok", SECRET)}, "summary": {"summary": SECRET},
    "source": {"origin": Origin(uri=f"https://{SECRET}@example.org/x", class_="agent")}, "link": {"links": (Link("see", SECRET),)},
    "extension": {"extensions": (("org.example/config", b'{"token":"' + SECRET.encode() + b'"}'),)},
    "member": {"unknown": (("x-note", b'"' + SECRET.encode() + b'"'),)},
}  # fmt: skip


@pytest.mark.parametrize("mode", ["refuse", "mask"])
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_what_is_known_about_a_memory_is_refused(bench: Bench, mode: str, place: str) -> None:
    memory = bench.memory(create=True, secrets=mode)
    with pytest.raises(SecretRefused) as caught:
        memory.save("k", b"text", record=making(memory, "k", **PLACES[place]))
    assert caught.value.facts["found"] == f"github-token ({place})"
    with pytest.raises(NotFoundError):
        memory.load("k")
    bench.close()
    assert clean(bench)


@pytest.mark.parametrize("mode", ["refuse", "mask"])
def test_a_secret_in_key_reason_or_operation_id_is_refused(bench: Bench, mode: str) -> None:
    memory = bench.memory(create=True, secrets=mode)
    memory.save("k", b"text")
    for call in (
        lambda: memory.save(f"notes/{SECRET}", b"text"),
        lambda: memory.save("k", b"more", reason=f"since {SECRET} changed"),
        lambda: memory.save("k", b"more", op=SECRET),
        lambda: memory.archive("k", reason=SECRET),
        lambda: memory.erase("k", reason=SECRET),
        lambda: memory.restore("k", 1, reason=SECRET),
        lambda: memory.govern("key-revoked", "00000000", 0, by=bench.owner, reason=SECRET),
    ):
        with pytest.raises(SecretRefused) as caught:
            call()
        assert SECRET not in str(caught.value) + str(caught.value.facts)
    assert memory.load("k").version == 1
    bench.close()
    assert clean(bench)


def test_a_secret_in_content_is_refused_and_nothing_of_it_is_on_the_disk(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"before")
    with pytest.raises(SecretRefused) as caught:
        memory.save("k", TEXT, op="op-1")
    assert caught.value.facts["found"] == "github-token (content line 3)"
    assert memory.load("k").content == b"before"
    assert memory.save("k", b"after", op="op-1").version == 2, "a refused operation did not happen"
    bench.close()
    assert clean(bench)


def test_masked_text_is_what_is_hashed_signed_and_proven(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    saved = memory.save("k", TEXT)
    assert saved.masked == ("github-token (content line 3)",)
    assert saved.sha256 == sha256(MASKED).hexdigest()
    loaded = memory.verify("k").loaded
    assert loaded.content == MASKED
    assert is_masked(loaded.record)
    assert (loaded.record.size, loaded.record.encoding) == (draft_of(MASKED).size, "utf-8")
    memory.proof("k")
    bench.close()
    assert clean(bench)


def draft_of(content: bytes) -> Record:
    return draft("k", content, agent="e", author="unknown", now="2026-11-30T00:00:00Z", random=bytes(10))


def test_the_next_version_says_nothing_of_the_masking_of_the_last(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    memory.save("k", TEXT)
    assert memory.save("k", b"plain").masked == ()
    assert not is_masked(memory.load("k").record)
    memory.restore("k", 1)
    assert is_masked(memory.load("k").record)
    assert memory.load("k").content == MASKED


def test_masked_bytes_that_were_no_text_may_become_text(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    memory.save("k", b"\xff caf\xe9 " + SECRET.encode())
    assert memory.load("k").content == b"\xff caf\xe9 [masked: github-token]"
    assert memory.load("k").record.encoding == "base64"


def test_a_repeat_of_a_masked_save_is_the_same_operation(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    first = memory.save("k", TEXT, op="op-1")
    again = memory.save("k", TEXT, op="op-1")
    assert (again.repeated, again.version, again.sha256, again.masked) == (True, 1, first.sha256, first.masked)
    assert memory.save("k", MASKED, op="op-1").repeated, "what is stored is what is compared"
    with pytest.raises(ConflictError):
        memory.save("k", TEXT + b"more", op="op-1")


def test_a_save_is_based_on_the_stored_digest(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    saved = memory.save("k", TEXT)
    with pytest.raises(ConflictError):
        memory.save("k", b"next", based_on=sha256(TEXT).hexdigest())
    assert memory.save("k", b"next", based_on=saved.sha256).version == 2


def test_with_allow_everything_enters_and_a_restore_of_it_is_no_new_entry(bench: Bench) -> None:
    bench.memory(create=True, secrets="allow").save("k", TEXT)
    strict = bench.memory()
    strict.save("k", b"taken out")
    restored = strict.restore("k", 1)
    assert (restored.version, strict.load("k").content) == (3, TEXT)
    with pytest.raises(SecretRefused):
        strict.save("k", TEXT)


def test_what_admit_gave_is_saved_with_what_it_found(bench: Bench) -> None:
    memory = bench.memory(create=True, secrets="mask")
    screened = memory.admit(TEXT, {"key": "k"})
    assert screened.content == MASKED
    assert memory.save("k", screened).masked == ("github-token (content line 3)",)
    assert is_masked(memory.load("k").record)


# Origin.


@pytest.mark.parametrize(("before", "stated"), [("external", "user"), ("external", "agent"), ("external", "tool"), ("tool", "agent"), ("tool", "user"), ("agent", "user"), ("unknown", "external"), (None, "external")])  # fmt: skip
def test_a_better_origin_than_before_is_refused(bench: Bench, before: str | None, stated: str) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"text", record=of(memory, "k", before))
    with pytest.raises(OriginRaised) as caught:
        memory.save("k", b"text", record=of(memory, "k", stated))
    assert (caught.value.exit_code, caught.value.slug) == (6, "origin-raised")
    with pytest.raises(OriginRaised):
        memory.save("k", b"text", record=of(memory, "k", stated), how="forced")
    assert memory.fetch("k").version == 1
    assert memory.save("other", b"text", record=of(memory, "other", stated)).version == 1, (
        "another key is another memory"
    )


@pytest.mark.parametrize(("before", "stated", "after"), [("user", "external", "external"), ("user", "agent", "agent"), ("agent", "unknown", "unknown"), ("user", None, None), ("tool", "tool", "tool")])  # fmt: skip
def test_the_lower_of_two_origins_holds(bench: Bench, before: str, stated: str | None, after: str | None) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"text", record=of(memory, "k", before))
    memory.save("k", b"text", record=of(memory, "k", stated))
    assert memory.fetch("k").record.origin.class_ == after


@pytest.mark.parametrize("how", ["saved", "forced"])
def test_a_plain_save_keeps_the_lower_origin(bench: Bench, how: str) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"text", record=of(memory, "k", "external"))
    memory.save("k", b"by the agent", how=how)
    assert memory.fetch("k").record.origin.class_ == "external"
    with pytest.raises(OriginRaised):
        memory.save("k", b"text", record=of(memory, "k", "user"))


def test_after_an_erasure_the_key_begins_afresh(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"text", record=of(memory, "k", "external"))
    memory.erase("k")
    memory.save("k", b"text", record=of(memory, "k", "user"))
    assert memory.fetch("k").record.origin.class_ == "user"


def test_a_restore_keeps_what_the_version_had(bench: Bench) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"one", record=of(memory, "k", "user"))
    memory.save("k", b"two", record=of(memory, "k", "external"))
    memory.restore("k", 1)
    assert (memory.fetch("k").content, memory.fetch("k").record.origin.class_) == (b"one", "user")


@pytest.mark.parametrize("damage", ["UPDATE record SET content = x'00'", "DELETE FROM record"])
@pytest.mark.parametrize("how", ["forced", "restored"])
def test_damage_does_not_raise_an_origin(bench: Bench, damage: str, how: str) -> None:
    memory = bench.memory(create=True)
    memory.save("k", b"text", record=of(memory, "k", "external"))
    bench.sql(damage)
    with pytest.raises(OriginRaised):
        memory.save("k", b"text", record=of(memory, "k", "user"), how=how)
    memory.save("k", b"found again", how=how)
    readable = damage.startswith("UPDATE")
    assert memory.fetch("k").record.origin.class_ == ("external" if readable else "agent")
