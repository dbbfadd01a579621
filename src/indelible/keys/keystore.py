"""The key folder: the keys that this account holds, and those that it trusts.

    indelible+local+eros.key              PRIVATE+KEY+indelible/local/eros+0a1b2c3d+AQ…   (0600)
    indelible+local+eros.pub              indelible/local/eros+0a1b2c3d+AQ…
    next/indelible+local+eros.key, .pub   the key that a rotation has staged
    retired/indelible+local+eros~0a1b2c3d.key, .pub   keys that were replaced
    trusted/indelible+local+rudex.pub     another's public key

The keys of owner, reviewers and approvers are sealed under a passphrase. Reading
writes nothing, and a public key is read without `cryptography`. Writers take turns;
a writer that is killed leaves a state from which the next one goes on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.errors import AccessDenied, BadSignature, ConflictError, NotFoundError, UsageError
from indelible.keys import files
from indelible.keys.keytext import RECOVER, asked_once, is_sealed, name_in, open_key, public_half, seal_key
from indelible.keys.names import file_stem
from indelible.seal.note import Signer, Verifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indelible.keys.backup import SavedKey
    from indelible.keys.keytext import Passphrase

PROTECTED_ROLES = frozenset({"owner", "reviewer", "approver"})
ROLES = PROTECTED_ROLES | {"agent", "server"}

_NEXT = "next"
_RETIRED = "retired"
_TRUSTED = "trusted"


class Keystore:
    """The keys in one folder, by name; an agent's key has its log's origin as name."""

    __slots__ = ("_key_file", "folder")

    def __init__(self, folder: str, *, key_file: str | None = None) -> None:
        """Look at a folder, which need not be there.

        Args:
            folder: an absolute path.
            key_file: INDELIBLE_KEY_FILE: a private key that goes before the folder's own of that name.
        """
        self.folder = folder
        self._key_file = key_file

    # Reading

    def signer(self, name: str, passphrase: Passphrase | None = None, *, key_id: int | None = None) -> Signer:
        """The private key of that name: the current one, or the retired one with that key id.

        Raises:
            NotFoundError: there is none.
            UsageError: its file is not as it has to be.
            AccessDenied: it needs a passphrase, or another one.
            BadSignature: it is not the key whose public half lies beside it.
        """
        if key_id is not None:
            return open_key(*self._read_private(name, self._retired(name, key_id)), passphrase)
        text, path = self._current_private(name)
        signer = open_key(text, path, passphrase)
        public = {key.vkey for key in (self._public(name), self._public(name, _NEXT)) if key}
        if path != self._key_file and public and signer.vkey not in public:
            raise BadSignature(f"The private key of {name} is not that of the public key beside it", name=name)
        return signer

    def verifier(self, name: str) -> Verifier | None:
        """The current public key of that name, ours or trusted."""
        return next(self._verifiers(name), None)

    def verifiers(self, name: str) -> tuple[Verifier, ...]:
        """All public keys of that name: the current one, one that a rotation has staged, those retired."""
        return tuple({key.vkey: key for key in self._verifiers(name)}.values())

    def is_protected(self, name: str) -> bool:
        """Whether the private key of that name, which has to be here, is kept under a passphrase."""
        return is_sealed(self._current_private(name)[0])

    def names(self) -> tuple[str, ...]:
        """The names of the keys that this folder holds, trusted ones not among them."""
        publics = files.listed(self.folder, ".pub")
        names = {key.name for file in publics if (key := self._read_public(os.path.join(self.folder, file)))}
        for file in files.listed(self.folder, ".key"):
            if file.removesuffix(".key") + ".pub" not in publics:  # its maker was killed in between
                path = os.path.join(self.folder, file)
                names.add(name_in(files.read_key(path, private=True), path))
        return tuple(sorted(names))

    def trusted_names(self) -> tuple[str, ...]:
        """The names of others' keys that this folder trusts."""
        folder = os.path.join(self.folder, _TRUSTED)
        publics = (self._read_public(os.path.join(folder, file)) for file in files.listed(folder, ".pub"))
        return tuple(sorted(key.name for key in publics if key))

    # Making and trusting

    def create(
        self, name: str, role: str = "agent", passphrase: Passphrase | None = None, *, unprotected: bool = False
    ) -> Signer:
        """Make a key.

        Args:
            unprotected: a reviewer's key under no passphrase; what it approves says so wherever it counts.

        Raises:
            ConflictError: there is one of that name already.
            AccessDenied: the public half of one is known, and the private half is not here.
            UsageError: an unknown role; no passphrase for a role that needs one.
            NotSaved: it could not be written; there is no half of it.
        """
        if role not in ROLES:
            raise UsageError(f"There is no role '{role}'", remedy=f"The roles are {', '.join(sorted(ROLES))}")
        if unprotected and role != "reviewer":
            raise UsageError(f"Only a reviewer's key may be unprotected, not one of the role '{role}'")
        self._require_free(name)  # before anybody types a passphrase
        signer = Signer.generate(name)
        text = seal_key(signer, passphrase) if role in PROTECTED_ROLES and not unprotected else signer.skey
        with files.locked(self.folder):
            self._require_free(name)
            files.create(self._path(name, ".key"), text)
            files.create(self._path(name, ".pub"), signer.vkey)
        return signer

    def ensure(self, name: str) -> Signer:
        """An agent's private key, made at its first use.

        Raises:
            AccessDenied: the public half is known and the private one is not here.
        """
        try:
            return self.signer(name)
        except NotFoundError:
            try:
                return self.create(name)
            except ConflictError:
                return self.signer(name)  # another process was first

    def trust(self, name: str, vkey: str, *, replace: bool = False) -> Verifier:
        """Record another's public key.

        Args:
            name: whose key it has to be.
            vkey: the public key.
            replace: accept another key than the one trusted before, which is kept as retired.

        Raises:
            UsageError: no vkey, one of another name, or a name whose private key is held here.
            BadSignature: another key is known under that name.
        """
        new = Verifier(vkey)
        if new.name != name:
            raise UsageError(f"That is a key of {new.name}, not of {name}", name=name)
        with files.locked(self.folder):
            old = self.verifier(name)
            if old and old.vkey == vkey:
                return old
            if old:
                self._require_replaceable(old, new, replace=replace)
                files.create(self._retired(name, old.key_id, ".pub"), old.vkey)
            files.replace(self._path(name, ".pub", _TRUSTED), vkey)
        return new

    # Rotating

    def rotate(self, name: str, passphrase: Passphrase | None = None) -> tuple[Signer, Signer]:
        """Stage a new key beside the current one, or find the one staged before; nothing uses it yet.

        The caller has the old key sign the log entry that names the new one, and only
        then calls `commit_rotation`. A crash between the two changes nothing here.

        Returns:
            The current key and the new one.
        """
        if self._key_file:
            raise UsageError("A key given by INDELIBLE_KEY_FILE is not rotated here", remedy="Unset it first")
        asked = asked_once(passphrase)
        self._finish_rotation(name)
        old = self.signer(name, asked)
        new = Signer.generate(name)
        text = seal_key(new, asked) if is_sealed(self._current_private(name)[0]) else new.skey
        with files.locked(self.folder):
            if files.create(self._path(name, ".key", _NEXT), text):
                files.replace(self._path(name, ".pub", _NEXT), new.vkey)
                return old, new
        return old, open_key(*self._read_private(name, self._path(name, ".key", _NEXT)), asked)

    def commit_rotation(self, name: str) -> Verifier:
        """Make the staged key the current one; the old one is kept as retired.

        Raises:
            NotFoundError: no rotation is under way.
        """
        with files.locked(self.folder):
            staged, current = self._public(name, _NEXT), self._public(name)
            if staged is None:
                raise NotFoundError(f"No rotation of {name} is under way", name=name)
            files.create(self._path(name, ".pub", _NEXT), staged.vkey)
            if current and os.path.lexists(self._path(name, ".key", _NEXT)):
                self._retire(self._read_private(name, self._path(name, ".key"))[0], current)
                files.move(self._path(name, ".key", _NEXT), self._path(name, ".key"))
            files.move(self._path(name, ".pub", _NEXT), self._path(name, ".pub"))
        return staged

    # Backup

    def backup(self, names: Iterable[str], passphrase: str) -> str:
        """These keys, with the retired ones of the same names, as an encrypted text to print.

        Raises:
            NotFoundError: one of them is not here.
        """
        from indelible.keys.backup import SavedKey, format_backup

        saved = []
        for name in dict.fromkeys(names):
            text, _ = self._current_private(name)
            retired = (self._read_private(name, path) for path in self._retired_files(name, ".key"))
            saved.append(SavedKey(name, text, tuple(old for old, _ in retired)))
        return format_backup(tuple(saved), passphrase)

    def recover(self, text: str, passphrase: str) -> tuple[str, ...]:
        """Put the keys of a backup back, all or none; what is here already stays as it is. Gives the names of those put back.

        Raises:
            ConflictError: a different key of one of the names is here.
            AccessDenied: the passphrase is wrong.
            UsageError: a line is not as it was printed.
        """
        from indelible.keys.backup import parse_backup, read_blob

        saved = parse_backup(read_blob(text), passphrase)
        with files.locked(self.folder):
            for key in saved:
                self._require_same_or_none(key)
            return tuple(key.name for key in saved if self._put_back(key))

    # Inside

    def _path(self, name: str, suffix: str, place: str = "") -> str:
        return os.path.join(self.folder, place, file_stem(name) + suffix)

    def _retired(self, name: str, key_id: int, suffix: str = ".key") -> str:
        return self._path(name, f"~{key_id:08x}{suffix}", _RETIRED)

    def _retired_files(self, name: str, suffix: str) -> tuple[str, ...]:
        folder, begin = os.path.join(self.folder, _RETIRED), f"{file_stem(name)}~"
        length = len(begin) + 8 + len(suffix)
        return tuple(
            os.path.join(folder, file)
            for file in files.listed(folder, suffix)
            if file.startswith(begin) and len(file) == length
        )

    def _current_private(self, name: str) -> tuple[str, str]:
        """Text and path of the key in use."""
        given = None
        if self._key_file:
            text = _read_given(self._key_file)
            given = name_in(text, self._key_file)
            if given == name:
                return text, self._key_file
        try:
            return self._read_private(name, self._path(name, ".key"))
        except NotFoundError:
            if given:
                raise UsageError(
                    f"INDELIBLE_KEY_FILE holds the key of {given}, not of {name}",
                    remedy="Name the agent (and the team) that the key is for, or another file",
                    file=self._key_file,
                ) from None
            raise

    def _read_private(self, name: str, path: str) -> tuple[str, str]:
        try:
            text = files.read_key(path, private=True)
        except FileNotFoundError:
            raise NotFoundError(f"There is no private key of {name} here", remedy=RECOVER, name=name) from None
        if name_in(text, path) != name:
            raise UsageError(f"The key file {path} holds another key than that of {name}", remedy=RECOVER, file=path)
        return text, path

    def _read_public(self, path: str) -> Verifier | None:
        try:
            text = files.read_key(path, private=False)
        except FileNotFoundError:
            return None
        try:
            return Verifier(text)
        except UsageError as exc:
            raise UsageError(f"The key file {path} does not hold a public key", remedy=RECOVER, file=path) from exc

    def _public(self, name: str, place: str = "") -> Verifier | None:
        """The public key in that place: its file, or, if a writer was killed before it wrote that, derived."""
        path = self._path(name, ".pub", place)
        key = self._read_public(path)
        if key and key.name != name:
            raise UsageError(f"The key file {path} holds another key than that of {name}", remedy=RECOVER, file=path)
        if key or place == _TRUSTED:
            return key
        try:
            text, private = self._read_private(name, self._path(name, ".key", place))
        except NotFoundError:
            return None
        return public_half(text, private)

    def _verifiers(self, name: str) -> Iterator[Verifier]:
        if self._key_file:
            text = _read_given(self._key_file)
            if name_in(text, self._key_file) == name:
                yield public_half(text, self._key_file)
        for place in ("", _TRUSTED, _NEXT):
            if key := self._public(name, place):
                yield key
        for path in self._retired_files(name, ".pub"):
            key = self._read_public(path)
            if key and key.name == name:
                yield key

    def _retire(self, text: str, public: Verifier) -> None:
        files.create(self._retired(public.name, public.key_id), text)
        files.create(self._retired(public.name, public.key_id, ".pub"), public.vkey)

    def _finish_rotation(self, name: str) -> None:
        """Go on where a writer was killed after it had put the new private key in place."""
        staged = self._read_public(self._path(name, ".pub", _NEXT))
        if staged and not os.path.lexists(self._path(name, ".key", _NEXT)):
            self.commit_rotation(name)

    def _require_free(self, name: str) -> None:
        if os.path.lexists(self._path(name, ".key")):
            raise ConflictError(
                f"There is a key of {name} already", remedy="Rotate it: indelible key rotate", name=name
            )
        if self.verifier(name):
            raise AccessDenied(
                f"A key of {name} is known, and its private half is not here: a new one would not continue its log",
                remedy=f"{RECOVER}; or take another name",
                name=name,
            )

    def holds(self, name: str) -> bool:
        """Whether the private key of that name is ours."""
        try:
            self._current_private(name)
        except (NotFoundError, UsageError):
            return os.path.lexists(self._path(name, ".key"))
        return True

    def _require_replaceable(self, old: Verifier, new: Verifier, *, replace: bool) -> None:
        if self.holds(new.name):
            raise UsageError(f"The private key of {new.name} is held here", remedy="Rotate it instead", name=new.name)
        if not replace:
            raise BadSignature(
                f"The key of {new.name} is {old.key_id:08x}, and not {new.key_id:08x} as now offered",
                remedy="Ask its holder by another way; if the change is right: indelible key trust --replace",
                name=new.name,
            )

    def _require_same_or_none(self, key: SavedKey) -> None:
        offered = public_half(key.current, "backup")
        known = self._public(key.name) or self._public(key.name, _TRUSTED)
        if known is None or known.vkey == offered.vkey:
            return
        older = offered.vkey in {each.vkey for each in self.verifiers(key.name)}
        if not (older and self.holds(key.name)):
            raise ConflictError(
                f"Another key of {key.name} is here, {known.key_id:08x}, and is not overwritten",
                remedy="Recover into an empty key folder, or move that key away",
                name=key.name,
            )

    def _put_back(self, key: SavedKey) -> bool:
        """Write what is not there: the current key where there is none, the others as retired. False where the current one was here."""
        fresh = files.create(self._path(key.name, ".key"), key.current)
        if fresh:
            files.replace(self._path(key.name, ".pub"), public_half(key.current, "backup").vkey)
        for text in key.retired:
            self._retire(text, public_half(text, "backup"))
        return fresh


def _read_given(path: str) -> str:
    try:
        return files.read_key(path, private=True)
    except FileNotFoundError:
        raise UsageError(f"INDELIBLE_KEY_FILE names {path}, which is not there", file=path) from None
