"""What a restore or a forced save builds on: a version that may be altered or gone, as may those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import IntegrityError, Missing
from indelible.memory.pinned import leaf_at
from indelible.memory.repeating import Repeater
from indelible.sealed import Commitments, verify

if TYPE_CHECKING:
    from indelible.seal.merkle import Frontier
    from indelible.sealed import Sealed
    from indelible.store.follower import Latest
    from indelible.store.store import Reading, Writing


class Mender(Repeater):
    """Looks at what a write is put on top of, and puts back what can be."""

    def _present(self, key: str, latest: Latest | None, reading: Reading) -> Sealed | None:
        """The version before this one, verified: what is built upon is checked first."""
        if latest is None or latest.state == "erased":
            return None
        sealed = reading.sealed(latest.saved_seq)
        if sealed is None:
            raise Missing(
                f"{key!r} (version {latest.version}) was sealed and is no longer in the store",
                key=key,
                seq=latest.saved_seq,
            )
        verify(sealed, Commitments(latest.content, latest.record), key)
        return sealed

    def _restorable(self, key: str, content: bytes, latest: Latest | None, writing: Writing) -> Sealed | None:
        """What a restore or a forced save builds on may be altered or gone, as may versions before it.

        Where `content`, the new bytes, are the sealed ones they are put back there too; else what is left of the damaged version is
        taken away, so that it serves nobody and an audit tells what was given up from what was altered since.
        """
        if latest is None:
            return None
        present = None
        for version in self._walk(key, latest, writing):
            if version.type == "erased":
                break
            if version.content is not None and version.record is not None:
                sound = self._mend(key, content, version.seq, Commitments(version.content, version.record), writing)
                present = sound if version.seq == latest.saved_seq else present
        return present

    def _mend(self, key: str, content: bytes, seq: int, expected: Commitments, writing: Writing) -> Sealed | None:
        sealed = self._remains(seq, writing)
        for candidate in (sealed, sealed._replace(content=content)) if sealed is not None else ():
            try:
                verify(candidate, expected, key)
            except IntegrityError:
                continue
            if candidate is not sealed:
                writing.mend(seq, candidate)
            return candidate
        writing.drop((seq,))
        return None

    @staticmethod
    def _remains(seq: int, writing: Writing) -> Sealed | None:
        """What is left of a version that does not verify; None where it cannot even be read."""
        try:
            return writing.sealed(seq)
        except IntegrityError:
            return None

    def _check_standing(self, latest: Latest | None, frontier: Frontier, writing: Writing) -> None:
        """What is signed on top of must still be there for those who follow from nothing: the key's entry, and the last one."""
        last = frontier.size - 1
        if latest is not None:
            leaf_at(writing, self.origin, latest.head_seq, latest.head)
        if last >= 0 and (latest is None or latest.head_seq != last):
            leaf_at(writing, self.origin, last, None)
