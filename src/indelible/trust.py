"""Whose signatures count for one agent's log, from this reader's own configuration and nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from indelible.errors import Malformed, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.seal.checkpoint import Checkpoint
    from indelible.seal.note import Verifier


class KeySource(Protocol):
    """Where verifier keys are looked up by name: the user's key folder."""

    def verifiers(self, name: str) -> tuple[Verifier, ...]: ...
    def owners(self) -> tuple[Verifier, ...]: ...
    def servers(self) -> tuple[Verifier, ...]: ...
    def reviewers(self) -> tuple[Verifier, ...]: ...
    def open_reviewers(self) -> frozenset[int]: ...


class LocalTrust:
    """Keys from the user's key folder, and a pin that was given.

    Args:
        proposed: gives verifier keys, as vkey text, that a settings file or a server names. They come from whoever could
            write there: the user is told of them, and they count for nothing until the user trusts them.
        pin: the text of a checkpoint note, or the path of a file that holds one; "" for none.
    """

    def __init__(
        self,
        origin: str,
        keys: KeySource,
        *,
        proposed: Callable[[], tuple[str, ...]] = tuple,
        pin: str = "",
        pin_by_user: bool = True,
        require_pin: bool = False,
    ) -> None:
        self.origin = origin
        self._keys, self._proposed = keys, proposed
        self._pin, self._pin_by_user, self._require_pin = pin, pin_by_user, require_pin

    def agent_keys(self) -> tuple[Verifier, ...]:
        """The keys that may sign this agent's entries and head."""
        return self._keys.verifiers(self.origin)

    def proposal(self) -> str:
        """What the user may want to trust, in one sentence; empty where nothing is proposed."""
        keys = self._proposed()
        if not keys:
            return ""
        commands = "; ".join(f"indelible key trust {key}" for key in keys)
        return f"If you know the key that is named here, trust it: {commands}"

    def server_keys(self) -> tuple[Verifier, ...]:
        """The keys of servers that may attest what was saved without a signature."""
        return self._keys.servers()

    def owner_keys(self) -> tuple[Verifier, ...]:
        """The keys that may say something about the log itself."""
        return self._keys.owners()

    def reviewer_keys(self) -> tuple[Verifier, ...]:
        """The keys whose judgement of a memory counts."""
        return self._keys.reviewers()

    def open_reviewers(self) -> frozenset[int]:
        """Key ids of those that lie here under no passphrase, whatever their judgements say of themselves."""
        return self._keys.open_reviewers()

    def given_pin(self) -> Checkpoint | None:
        """The given pin, if it is one of this log.

        Raises:
            UsageError: it cannot be read, or is no checkpoint.
        """
        if not self._pin:
            return None
        checkpoint = read_pin(self._pin)
        return checkpoint if checkpoint.origin == self.origin else None

    def given_by_user(self) -> bool:
        """Whether the given pin is the user's own word, and not only a file that a repository's settings name."""
        return self._pin_by_user

    def pin_required(self) -> bool:
        return self._require_pin


def read_pin(pin: str) -> Checkpoint:
    """A checkpoint from the text of a note, or from a file that holds one.

    Raises:
        UsageError: it cannot be read, or is no checkpoint.
    """
    from indelible.seal import checkpoint
    from indelible.seal.note import parse_note

    try:
        text = (
            f"{pin.rstrip()}\n".encode() if "\n" in pin else _read_file(pin)
        )  # a shell's $(…) takes the last newline away
        text = text.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")  # what an editor may have added
        return checkpoint.parse(parse_note(text).text)
    except (Malformed, ValueError) as exc:
        raise UsageError(
            "The given pin is not a checkpoint",
            remedy="Give what 'indelible checkpoint' prints, or a file that holds it",
        ) from exc


def _read_file(path: str) -> bytes:
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return file.read(1 << 20)
    except OSError as exc:
        raise UsageError(
            f"The pin's file {path} cannot be read ({exc.strerror})",
            remedy="Give a file that 'indelible checkpoint' wrote",
        ) from exc
