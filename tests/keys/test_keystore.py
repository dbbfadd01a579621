"""The key folder: made at first use, never exchanged unasked, rotated and recovered without losing a key."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.entry import origin_of
from indelible.errors import AccessDenied, BadSignature, ConflictError, NotFoundError, UsageError
from indelible.keys import Keystore, files, sealedkey
from indelible.keys.names import file_stem
from indelible.seal.note import Signer, open_note, sign_note

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EROS = origin_of("local", "eros")
RUDEX = origin_of("local", "rudex")
OWNER = "indelible-owner/mina"
PHRASE = "correct horse"
posix = pytest.mark.skipif(os.name != "posix", reason="file modes and links")


def phrase(_name: str) -> str:
    return PHRASE


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretching is tested with sealed keys; here it would only take time."""
    monkeypatch.setattr(sealedkey, "_stretched", lambda secret, salt: (secret.encode() + salt * 2)[:32])


@pytest.fixture
def store(tmp_path: Path) -> Keystore:
    return Keystore(str(tmp_path / "keys"))


def key_path(store: Keystore, name: str, suffix: str = ".key", place: str = "") -> str:
    return os.path.join(store.folder, place, file_stem(name) + suffix)


def public(name: str, which: int = 0) -> str:
    return Signer(name, bytes([which]) * 32).vkey


# Making and reading


def test_a_key_is_made_at_first_use_and_found_again(store: Keystore) -> None:
    made = store.ensure(EROS)
    assert store.ensure(EROS).skey == store.signer(EROS).skey == made.skey
    assert store.names() == (EROS,)
    with open(key_path(store, EROS), encoding="utf-8") as file:
        assert file.read() == f"{made.skey}\n"
    note = sign_note(b"text\n", made)
    assert open_note(note, store.verifiers(EROS))[1][0].name == EROS


def test_reading_an_absent_folder_finds_nothing_and_makes_nothing(store: Keystore) -> None:
    assert (store.names(), store.trusted_names(), store.verifiers(EROS), store.verifier(EROS)) == ((), (), (), None)
    with pytest.raises(NotFoundError, match="key recover"):
        store.signer(EROS)
    assert not os.path.exists(store.folder)


@posix
def test_folder_and_files_are_for_their_owner_alone(store: Keystore) -> None:
    store.create(EROS)
    assert os.stat(store.folder).st_mode & 0o777 == 0o700
    assert os.stat(key_path(store, EROS)).st_mode & 0o777 == 0o600


def test_two_first_uses_at_once_make_one_key(store: Keystore) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: Keystore(store.folder).ensure(EROS).skey, range(8)))
    assert len(keys) == 1


def test_agents_that_differ_only_in_case_or_form_have_keys_of_their_own(store: Keystore) -> None:
    names = [
        origin_of("local", agent)
        for agent in (
            "Notes",
            "notes",
            *(normalize(form, "메모") for form in ("NFC", "NFD")),
            "n" * 400,
            "n" * 399 + "m",
        )
    ]
    made = {name: store.ensure(name).skey for name in names}
    assert {name: store.signer(name).skey for name in names} == made
    assert store.names() == tuple(sorted(names))


def test_a_key_that_is_there_is_not_made_again(store: Keystore) -> None:
    made = store.create(EROS)
    with pytest.raises(ConflictError):
        store.create(EROS)
    assert store.signer(EROS).skey == made.skey


def test_no_new_key_is_made_where_only_the_public_half_is_known(store: Keystore) -> None:
    """It would sign a second log under the name of the first."""
    store.trust(EROS, public(EROS))
    with pytest.raises(AccessDenied, match="private half is not here"):
        store.ensure(EROS)
    other = store.create(RUDEX)
    os.unlink(key_path(store, RUDEX))
    with pytest.raises(AccessDenied):
        store.ensure(RUDEX)
    assert store.verifier(RUDEX).vkey == other.vkey  # type: ignore[union-attr]


def test_a_maker_killed_before_the_public_half_is_written_has_made_a_whole_key(store: Keystore) -> None:
    made = store.create(EROS)
    os.unlink(key_path(store, EROS, ".pub"))
    assert store.names() == (EROS,)
    assert store.ensure(EROS).skey == made.skey
    assert store.verifiers(EROS)[0].vkey == made.vkey


def test_public_keys_are_read_without_cryptography(store: Keystore) -> None:
    store.create(EROS)
    store.create(OWNER, "owner", phrase)
    store.trust(RUDEX, public(RUDEX))
    code = textwrap.dedent("""
        import sys
        from indelible.keys import Keystore
        keys = Keystore(sys.argv[1])
        found = [keys.verifiers(name) for name in (*keys.names(), *keys.trusted_names())]
        print(len(found), "cryptography" in sys.modules, "unicodedata" in sys.modules)
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", code, store.folder], env=env, check=True, capture_output=True, text=True
    )
    assert ended.stdout == "3 False False\n"


# Faults of files


@pytest.mark.parametrize("text", [
    "SECRET", "PRIVATE+KEY+SECRET", "PRIVATE+KEY+a+00000000+SECRET", '{"SECRET":1}', "{SECRET", f"PRIVATE+KEY+SECRET {'x' * 80}",
])  # fmt: skip
def test_a_damaged_key_file_is_named_with_the_remedy_and_not_shown(text: str, store: Keystore) -> None:
    store.create(EROS)
    files.replace(key_path(store, EROS), text)
    for use in (store.signer, store.ensure):
        with pytest.raises(UsageError) as caught:
            use(EROS)
        assert key_path(store, EROS) in str(caught.value)
        assert caught.value.remedy
        assert "SECRET" not in str(caught.value) + repr(caught.value.facts) + repr(caught.value.__cause__)
    assert store.verifier(EROS)


def test_a_key_with_a_flipped_letter_is_not_used(store: Keystore) -> None:
    skey = store.create(EROS).skey
    for at in (len("PRIVATE+KEY+") + len(EROS) + 1, len(skey) - 10):
        files.replace(key_path(store, EROS), skey[:at] + ("1" if skey[at] != "1" else "2") + skey[at + 1 :])
        with pytest.raises(UsageError, match="does not hold a private key"):
            store.signer(EROS)


def test_a_key_put_in_anothers_place_is_not_used(store: Keystore) -> None:
    store.create(EROS)
    files.replace(key_path(store, EROS), Signer.generate(RUDEX).skey)
    with pytest.raises(UsageError, match="another key"):
        store.signer(EROS)
    files.replace(key_path(store, EROS), Signer.generate(EROS).skey)
    with pytest.raises(BadSignature, match="not that of the public key"):
        store.signer(EROS)
    files.replace(key_path(store, EROS, ".pub"), public(RUDEX))
    with pytest.raises(UsageError, match="another key"):
        store.verifiers(EROS)
    files.replace(key_path(store, EROS, ".pub"), "nonsense")
    with pytest.raises(UsageError, match="does not hold a public key"):
        store.verifiers(EROS)


def test_one_bad_private_key_does_not_keep_other_agents_from_verifying(store: Keystore) -> None:
    store.create(EROS)
    store.create(RUDEX)
    files.replace(key_path(store, RUDEX), "nonsense")
    assert store.names() == (EROS, RUDEX)
    assert len(store.verifiers(EROS)) == 1


# A key given from outside


def test_a_given_key_file_goes_before_the_folder(store: Keystore, tmp_path: Path) -> None:
    given = Signer.generate(EROS)
    files.create(str(tmp_path / "given"), given.skey)
    own = store.create(EROS)
    keys = Keystore(store.folder, key_file=str(tmp_path / "given"))
    assert keys.signer(EROS).skey == keys.ensure(EROS).skey == given.skey
    assert [key.vkey for key in keys.verifiers(EROS)] == [given.vkey, own.vkey]
    with pytest.raises(UsageError, match="INDELIBLE_KEY_FILE"):
        keys.rotate(EROS)


def test_a_given_key_file_for_another_agent_makes_no_new_key(store: Keystore, tmp_path: Path) -> None:
    files.create(str(tmp_path / "given"), Signer.generate(EROS).skey)
    keys = Keystore(store.folder, key_file=str(tmp_path / "given"))
    with pytest.raises(UsageError, match=f"holds the key of {EROS}, not of {RUDEX}"):
        keys.ensure(RUDEX)
    assert not os.path.exists(store.folder)
    keys.create(OWNER, "owner", phrase)
    assert keys.signer(OWNER, phrase).name == OWNER


def test_a_given_key_file_that_is_not_there_is_told(store: Keystore, tmp_path: Path) -> None:
    keys = Keystore(store.folder, key_file=str(tmp_path / "gone"))
    for use in (keys.signer, keys.verifiers):
        with pytest.raises(UsageError, match="INDELIBLE_KEY_FILE names"):
            use(EROS)


def test_a_given_key_cannot_be_replaced_by_trusting_another(store: Keystore, tmp_path: Path) -> None:
    files.create(str(tmp_path / "given"), Signer.generate(EROS).skey)
    keys = Keystore(store.folder, key_file=str(tmp_path / "given"))
    with pytest.raises(UsageError, match="held here"):
        keys.trust(EROS, public(EROS), replace=True)


# Roles


@pytest.mark.parametrize("role", ["owner", "reviewer", "approver"])
def test_a_persons_key_needs_its_passphrase(role: str, store: Keystore) -> None:
    name = f"indelible-{role}/mina"
    with pytest.raises(UsageError, match="passphrase"):
        store.create(name, role)
    made = store.create(name, role, phrase)
    assert store.signer(name, phrase).skey == made.skey
    assert store.verifier(name).vkey == made.vkey  # type: ignore[union-attr]
    with open(key_path(store, name), encoding="utf-8") as file:
        assert made.skey.split("+", 4)[4] not in file.read()
    with pytest.raises(AccessDenied, match="needs its passphrase"):
        store.signer(name)
    with pytest.raises(AccessDenied, match="wrong"):
        store.signer(name, lambda _: "other")


def test_there_are_no_other_roles(store: Keystore) -> None:
    with pytest.raises(UsageError, match="no role 'king'"):
        store.create(EROS, "king")


# Trusting


def test_anothers_key_is_trusted_once_and_not_exchanged_unasked(store: Keystore) -> None:
    store.trust(RUDEX, public(RUDEX))
    store.trust(RUDEX, public(RUDEX))
    with pytest.raises(BadSignature, match="trust --replace"):
        store.trust(RUDEX, public(RUDEX, 1))
    assert [key.vkey for key in store.verifiers(RUDEX)] == [public(RUDEX)]
    store.trust(RUDEX, public(RUDEX, 1), replace=True)
    assert [key.vkey for key in store.verifiers(RUDEX)] == [public(RUDEX, 1), public(RUDEX)]
    with pytest.raises(BadSignature):
        store.trust(RUDEX, public(RUDEX))
    assert (store.names(), store.trusted_names()) == ((), (RUDEX,))


@pytest.mark.parametrize("vkey", ["", "nonsense", public(EROS), public(RUDEX)[:-4]])
def test_what_is_no_key_of_that_name_is_not_trusted(vkey: str, store: Keystore) -> None:
    with pytest.raises(UsageError):
        store.trust(RUDEX, vkey)
    assert store.verifiers(RUDEX) == ()


def test_a_key_held_here_is_not_replaced_by_trusting_another(store: Keystore) -> None:
    made = store.create(EROS)
    assert store.trust(EROS, made.vkey).vkey == made.vkey
    with pytest.raises(UsageError, match="Rotate it instead"):
        store.trust(EROS, public(EROS), replace=True)


# Rotating


def test_a_staged_key_is_believed_but_not_used_until_it_is_committed(store: Keystore) -> None:
    first = store.create(EROS)
    old, new = store.rotate(EROS)
    assert old.skey == first.skey == store.signer(EROS).skey
    assert [key.vkey for key in store.verifiers(EROS)] == [old.vkey, new.vkey]
    assert [signer.skey for signer in store.rotate(EROS)] == [old.skey, new.skey], "found again, not made anew"
    assert store.commit_rotation(EROS).vkey == new.vkey
    assert store.signer(EROS).skey == new.skey
    assert store.signer(EROS, key_id=old.key_id).skey == old.skey, "another store's log may still need its signature"
    assert [key.vkey for key in store.verifiers(EROS)] == [new.vkey, old.vkey]


def test_keys_can_be_rotated_again_and_again(store: Keystore) -> None:
    made = [store.create(EROS)]
    for _ in range(3):
        made.append(store.rotate(EROS)[1])
        store.commit_rotation(EROS)
    assert store.verifier(EROS).vkey == made[-1].vkey  # type: ignore[union-attr]
    assert {key.vkey for key in store.verifiers(EROS)} == {signer.vkey for signer in made}


def test_rotating_what_is_not_there_is_told(store: Keystore) -> None:
    with pytest.raises(NotFoundError):
        store.rotate(EROS)
    store.create(EROS)
    with pytest.raises(NotFoundError, match="No rotation"):
        store.commit_rotation(EROS)


def test_a_persons_key_stays_under_its_passphrase_and_asks_once(store: Keystore) -> None:
    store.create(OWNER, "owner", phrase)
    asked: list[str] = []

    def ask(name: str) -> str:
        asked.append(name)
        return PHRASE

    _, new = store.rotate(OWNER, ask)
    store.commit_rotation(OWNER)
    assert asked == [OWNER]
    assert store.signer(OWNER, phrase).skey == new.skey
    with pytest.raises(AccessDenied):
        store.signer(OWNER)


class Killed(BaseException):
    """What no code catches, as a kill is not caught."""


@pytest.mark.parametrize("step", range(9))
def test_a_rotation_killed_at_any_step_loses_no_key_and_goes_on(step: int, store: Keystore) -> None:
    first = store.create(EROS)
    left = [step]

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object) -> object:
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return function(*args)

        return call

    with pytest.MonkeyPatch.context() as dying:
        for name in ("create", "replace", "move"):
            dying.setattr(files, name, counted(getattr(files, name)))
        try:
            store.rotate(EROS)
            store.commit_rotation(EROS)
        except Killed:
            assert step < 8
        else:
            assert step == 8, "a step was added: kill there too"
    known = {key.vkey for key in store.verifiers(EROS)}
    assert first.vkey in known
    assert store.signer(EROS).vkey in known
    old, new = store.rotate(EROS)
    assert store.signer(EROS).skey == old.skey
    store.commit_rotation(EROS)
    assert store.signer(EROS).skey == new.skey
    assert {first.vkey, old.vkey, new.vkey} <= {key.vkey for key in store.verifiers(EROS)}


# Backup


def test_a_lost_laptops_keys_come_back_with_those_that_they_replaced(store: Keystore, tmp_path: Path) -> None:
    old = store.create(EROS)
    store.rotate(EROS)
    store.commit_rotation(EROS)
    store.create(OWNER, "owner", phrase)
    text = store.backup((OWNER, EROS, EROS), "safe")
    fresh = Keystore(str(tmp_path / "fresh"))
    assert fresh.recover(text, "safe") == (OWNER, EROS)
    assert fresh.recover(text, "safe") == (), "a second time changes nothing"
    assert fresh.signer(EROS).skey == store.signer(EROS).skey
    assert fresh.signer(EROS, key_id=old.key_id).skey == old.skey
    assert fresh.signer(OWNER, phrase).skey == store.signer(OWNER, phrase).skey
    assert fresh.names() == store.names()


def test_recovering_completes_a_key_of_which_only_the_public_half_is_known(store: Keystore, tmp_path: Path) -> None:
    made = store.create(EROS)
    text = store.backup([EROS], "safe")
    os.unlink(key_path(store, EROS))
    store.recover(text, "safe")
    fresh = Keystore(str(tmp_path / "fresh"))
    fresh.trust(EROS, made.vkey)
    fresh.recover(text, "safe")
    assert store.signer(EROS).skey == fresh.signer(EROS).skey == made.skey


def test_recovering_never_overwrites_another_key_and_then_writes_none(store: Keystore, tmp_path: Path) -> None:
    store.create(RUDEX)
    store.create(EROS)
    text = store.backup([RUDEX, EROS], "safe")
    fresh = Keystore(str(tmp_path / "fresh"))
    own = fresh.create(EROS)
    with pytest.raises(ConflictError, match=EROS):
        fresh.recover(text, "safe")
    assert (fresh.names(), fresh.signer(EROS).skey) == ((EROS,), own.skey)


def test_an_older_backup_does_not_undo_a_rotation(store: Keystore) -> None:
    store.create(EROS)
    text = store.backup([EROS], "safe")
    _, new = store.rotate(EROS)
    store.commit_rotation(EROS)
    store.recover(text, "safe")
    assert store.signer(EROS).skey == new.skey
    os.unlink(key_path(store, EROS))
    with pytest.raises(ConflictError):
        store.recover(text, "safe")


def test_a_wrong_passphrase_and_an_absent_key_are_told(store: Keystore) -> None:
    store.create(EROS)
    with pytest.raises(AccessDenied):
        store.recover(store.backup([EROS], "safe"), "Safe")
    with pytest.raises(NotFoundError):
        store.backup([EROS, RUDEX], "safe")
    with pytest.raises(UsageError, match="empty"):
        store.backup([EROS], "")


@given(agent=st.text(min_size=1, max_size=40), team=st.text(min_size=1, max_size=40))
def test_the_key_of_any_agent_survives_backup_and_recovery(
    agent: str, team: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = origin_of(team, agent)
    here, there = (Keystore(str(tmp_path_factory.mktemp("keys") / "keys")) for _ in range(2))
    made = here.create(name)
    assert there.recover(here.backup([name], "safe"), "safe") == (name,)
    assert (there.names(), there.signer(name).skey) == ((name,), made.skey)
