"""Git's objects, each held against its name as it is read.

Git compares the name of an object with its content when it writes or receives one, and not when it reads one: whoever can
write in `.git/objects` can put another content under a name. Here the name is computed from the very bytes that are used.
"""

from __future__ import annotations

from contextlib import contextmanager

from indelible.errors import IntegrityError
from indelible.gitsource.command import PIECE, GitFailed
from indelible.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from hashlib import _Hash

    from indelible.gitsource.command import Git, Talk

_AT_ONCE = 60
"""Names that are asked for before the answers are read: fewer bytes than the smallest buffer of a pipe, so that nobody waits for the other."""


class ObjectAltered(IntegrityError):
    """An object of a repository is not what its name says."""

    slug = "git-object-altered"
    remedy = (
        "Approve and commit nothing here: somebody altered the object store. 'git fsck --full' names all such objects, "
        "a fresh clone is without them"
    )


class Wanted(NamedTuple):
    """An object to be read."""

    name: str
    """Its full name, in hex."""
    where: str
    """What it is, for messages: a path, or words."""


class Genuine(NamedTuple):
    """An object that is what its name says."""

    name: str
    kind: str
    """`commit`, `tree`, `blob` or `tag`."""
    size: int
    content: bytes | None
    """None where it is larger than was asked for: it was held against its name all the same."""


class Objects:
    """The objects of one repository, read through one process of git."""

    def __init__(self, talk: Talk, folder: str) -> None:
        self._talk, self._folder = talk, folder

    def read(self, wanted: Sequence[Wanted], kind: str, most: int | None = None) -> Iterator[Genuine]:
        """Each of them, in their order; to be read to the end.

        Args:
            kind: what each has to be.
            most: bytes up to which the content is handed over.

        Raises:
            ObjectAltered: one is not what its name says. GitFailed: one is not there, or of another kind.
        """
        for one, found in zip(wanted, self.find(wanted, most), strict=True):
            if found is None or found.kind != kind:
                raise GitFailed(
                    f"There is no {kind} {one.name} ({_printable(one.where)}) in {self._folder}",
                    remedy="Fetch it, or try 'git fsck' there", folder=self._folder,
                )  # fmt: skip
            yield found

    def find(self, wanted: Sequence[Wanted], most: int | None = None) -> Iterator[Genuine | None]:
        """As `read`, of any kind; None for one that is not there."""
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            self._talk.ask("".join(f"{one.name}\n" for one in some).encode())
            for one in some:
                yield self._answer(one, most)

    def _answer(self, one: Wanted, most: int | None) -> Genuine | None:
        words = self._talk.line().split(b" ")
        if words == [one.name.encode(), b"missing"]:
            return None
        if len(words) != 3 or words[0] != one.name.encode():
            raise GitFailed(
                f"Git does not read {_printable(one.name)} in {self._folder}", remedy="Try 'git fsck' there"
            )
        kind, size = words[1].decode("ascii"), int(words[2])
        digest = _hash(one.name, kind, size)
        content = self._content(digest, size, keep=most is None or size <= most)
        if digest.hexdigest() != one.name:
            raise ObjectAltered(
                f"The object {one.name} ({_printable(one.where)}) in {self._folder} is not what its name says", object=one.name
            )  # fmt: skip
        return Genuine(one.name, kind, size, content)

    def _content(self, digest: _Hash, size: int, *, keep: bool) -> bytes | None:
        content = None
        if keep:
            content = self._talk.take(size)
            digest.update(content)
        else:
            for start in range(0, size, PIECE):
                digest.update(self._talk.take(min(PIECE, size - start)))
        self._talk.take(1)  # the newline behind it
        return content


@contextmanager
def reading(git: Git, folder: str) -> Iterator[Objects]:
    """The objects of a repository, until the `with` ends.

    Raises:
        GitMissing, GitFailed.
    """
    with git.talk(folder, "cat-file", "--batch") as talk:
        yield Objects(talk, folder)


def _hash(name: str, kind: str, size: int) -> _Hash:
    from hashlib import sha1, sha256

    head = b"%s %d\0" % (kind.encode(), size)
    return sha256(head) if len(name) == 64 else sha1(head, usedforsecurity=False)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
