"""The seeds' wire client, for a plain Memory API server that is not ours (it has no `/v1`).

    GET  /memory/load?agent=A&key=K                 x-api-key -> {"memories": [{"key_name", "content", …}]}
    POST /memory/save   {"agent", "key", "content"} x-api-key -> {"status": "saved", …}

Nothing is saved before it was read back: a save posts KEY, then KEY.sha256, then loads both and compares. Nothing is
checked unless it was: a server that is down, slow, or answers with a page raises `Unreachable`, never a verdict. An
apparent tampering is looked at once more, since a save by somebody else may have fallen between two requests.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from indelible.errors import (
    AccessDenied,
    Malformed,
    Missing,
    NotFoundError,
    NotSaved,
    OutcomeUnknown,
    Unchecked,
    Unreachable,
    UsageError,
)
from indelible.plain.answers import read_memories, read_refusal
from indelible.plain.forms import SUFFIX, check, parse_embedded
from indelible.plain.judging import judge, last_saved
from indelible.plain.receipts import SAVED, SENDING
from indelible.plain.results import PlainLoaded, PlainSaved
from indelible.plain.rows import choose, parse_rows
from indelible.seal.digest import Digest
from indelible.store.wire import NoAnswer, Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from indelible.errors import IndelibleError
    from indelible.plain.forms import Embedded
    from indelible.plain.receipts import Receipt, Receipts
    from indelible.plain.rows import Choice, Row
    from indelible.screening import Screened

LOAD, SAVE = "/memory/load", "/memory/save"

_PAUSE = 0.25
"""Seconds before a second look: another client's two requests are that far apart at most, usually."""
_KEEP = "Keep the content and save it again: nothing of it was thrown away here"
_START = "Start the server or check its address; until then nothing is known about the memory"


class PlainClient:
    """One agent's memory at one plain server.

    Args:
        base: the server's address, the seeds' `MEMORY_API_BASE`.
        agent: the namespace.
        api_key: sent to that address alone.
        receipts: what this machine saved; without them text and checksum that were edited together pass.
        transport: an httpx transport, in place of the network.
        timeout: seconds for one request, all of it; a load makes two, a save four, and the first that fails ends it.
        secrets: what is done about a secret in what is to be saved: `refuse`, `mask` or `allow`.
    """

    def __init__(
        self,
        base: str,
        agent: str,
        api_key: str,
        *,
        receipts: Receipts | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout: float = 10.0,
        secrets: str = "refuse",
    ) -> None:
        self.agent = _name("agent", agent)
        self._receipts, self._secrets = receipts, secrets
        self._wire = Wire(base, api_key, transport=transport, timeout=timeout)
        self.place = self._wire.base

    def load(self, key: str) -> PlainLoaded:
        """The newest version of a memory, with the seed's three states.

        Raises:
            NotFoundError: nothing is there, and nothing says that there was.
            Missing: its content is gone, while its checksum or a receipt is still there.
            Malformed: the row holds no text.
            Unchecked: the server cannot be reached, does not answer sensibly, or sends several newest versions.
            AccessDenied: it refuses the key.
        """
        _name("key", key)
        receipts = self._receipts.get(self.place, self.agent, key) if self._receipts else ()
        try:
            loaded = self._look(key, receipts)
        except Missing:
            loaded = None
        if loaded is None or loaded.checksum_ok is False:
            time.sleep(_PAUSE)
            loaded = self._look(key, receipts)
        if loaded is None:
            raise self._absent(key, receipts)
        return loaded

    def save(self, key: str, content: bytes | str, *, expires_at: str | None = None) -> PlainSaved:
        """Save a memory with its checksum, and read both back.

        Args:
            key: Any text.
            content: UTF-8; of either form.
            expires_at: Handed to the server as it is.

        Raises:
            NotSaved: the server refused it, could not be reached, or gives back something else.
            OutcomeUnknown: the answer got lost, or is none; the content may be there without its checksum.
            AccessDenied: the server refuses the key.
            UsageError: the content is not UTF-8, which is all that this wire carries.
            SecretRefused: there is what looks like a secret, and it is not to be masked or stands in the key.
        """
        _name("key", key)
        screened = self.admit(_text(content).encode(), {"key": key})
        text = screened.content.decode()
        digest = Digest.of(screened.content)
        warnings = self._note(key, digest, SENDING)
        more = {} if expires_at is None else {"expires_at": expires_at}
        self._post({"agent": self.agent, "key": key, "content": text, **more})
        try:
            self._post({"agent": self.agent, "key": key + SUFFIX, "content": digest.hex, **more})
        except (AccessDenied, NotSaved, OutcomeUnknown) as exc:
            message = f"Not saved whole: the server took the content of {key!r} and not its checksum ({exc.message})"
            raise OutcomeUnknown(message, remedy=_KEEP, key=key) from exc
        self._read_back(key, digest)
        masked = tuple(map(str, screened.found))
        return PlainSaved(key, digest.hex, warnings + self._note(key, digest, SAVED), masked)

    def admit(self, content: bytes, names: Mapping[str, str] | None = None) -> Screened:
        """What of `content` may be sent: itself, or with a mark for each secret in it.

        Raises:
            SecretRefused: there is what looks like a secret, and it is not to be masked or stands in a name.
        """
        from indelible.screening import screen

        return screen(content, mode=self._secrets, names=names)

    def close(self) -> None:
        """Let the connection go."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keys(self) -> tuple[str, ...]:
        """What this machine saved here, by its receipts.

        Raises:
            Unchecked: they cannot be read.
        """
        return self._receipts.keys(self.place, self.agent) if self._receipts else ()

    def _look(self, key: str, receipts: tuple[Receipt, ...]) -> PlainLoaded | None:
        choice = self._choose(key)
        if choice is None:
            return None
        stored = choice.content.content.encode()
        judged = judge(check(stored, choice.checksum), choice.content.digest, receipts)
        verdict = judged.verdict
        if verdict.state is False:
            verdict = replace(verdict, message=f"{verdict.message}; the server sent {choice.versions}")
        warnings = choice.warnings + judged.warnings + ((verdict.message,) if verdict.state is None else ())
        return PlainLoaded(key, stored, verdict, _parts(stored), judged.keyed, warnings, choice.versions)

    def _choose(self, key: str) -> Choice | None:
        contents, checksums = self._rows(key), self._rows(key + SUFFIX)
        if contents:
            return choose(contents, checksums)
        if checksums:
            raise Missing(f"The content of {key!r} is gone from {self.place}, and its checksum is still there", key=key)
        return None

    def _rows(self, key: str) -> tuple[Row, ...]:
        try:
            memories = read_memories(self._wire.get(LOAD, {"agent": self.agent, "key": key}))
        except NoAnswer as exc:
            raise Unreachable(f"Not checked: {exc.words}", remedy=_START, place=self.place) from exc
        return parse_rows(memories, key)

    def _absent(self, key: str, receipts: tuple[Receipt, ...]) -> IndelibleError:
        saved = last_saved(receipts)
        if saved is None:
            return NotFoundError(f"Nothing is saved under {key!r} at {self.place}", remedy="Save it first", key=key)
        return Missing(f"Nothing is at {self.place} under {key!r}, where this machine saved it on {saved.at}", key=key)

    def _post(self, body: dict[str, object]) -> None:
        try:
            reply = self._wire.post(SAVE, body)
            refusal = read_refusal(reply)
        except NoAnswer as exc:
            if not exc.sent:
                raise NotSaved(f"Not saved: {exc.words}", remedy=_KEEP, place=self.place) from exc
            raise OutcomeUnknown(
                f"Not saved, as far as can be told: {exc.words}", remedy=_KEEP, place=self.place
            ) from exc
        if refusal:
            raise NotSaved(f"Not saved: {refusal}", remedy=_KEEP, place=self.place)

    def _read_back(self, key: str, digest: Digest) -> None:
        """That the newest version there is ours, with our checksum. A server may take a moment."""
        there = self._choose_saved(key)
        if not _is_ours(there, digest):
            time.sleep(_PAUSE)
            there = self._choose_saved(key)
        if not _is_ours(there, digest):
            versions = there.versions if there else "nothing"
            message = f"Not saved: the server said it was, and what it gives back is something else ({versions})"
            raise NotSaved(message, remedy=_KEEP, key=key)

    def _choose_saved(self, key: str) -> Choice | None:
        try:
            return self._choose(key)
        except (Malformed, Missing, Unchecked) as exc:
            message = (
                f"Not saved, as far as can be told: the server took {key!r}, and reading it back failed ({exc.message})"
            )
            raise OutcomeUnknown(message, remedy=_KEEP, key=key) from exc

    def _note(self, key: str, digest: Digest, stage: str) -> tuple[str, ...]:
        """A receipt that cannot be kept is a warning: the save is not undone by it."""
        if self._receipts is None:
            return ()
        try:
            self._receipts.put(self.place, self.agent, key, digest, stage)
        except NotSaved as exc:
            return (str(exc),)
        return ()


def _is_ours(choice: Choice | None, digest: Digest) -> bool:
    return choice is not None and choice.content.digest == digest and choice.checksum == digest.hex


def _parts(stored: bytes) -> Embedded | None:
    """A detached checksum may vouch for text that only looks like the embedded form."""
    try:
        return parse_embedded(stored)
    except Malformed:
        return None


def _name(what: str, name: str) -> str:
    """A name that can be asked for: UTF-8 text, not empty."""
    try:
        name.encode()
    except UnicodeEncodeError as exc:
        raise UsageError(f"The {what} is not UTF-8 text") from exc
    if not name:
        raise UsageError(f"The {what} is empty", remedy="Name one")
    return name


def _text(content: bytes | str) -> str:
    try:
        text = content.decode() if isinstance(content, bytes) else content
        text.encode()
    except UnicodeError as exc:
        remedy = "Save it in an Indelible store, which keeps bytes"
        raise UsageError("Not saved: the content is not UTF-8, and this wire carries only text", remedy=remedy) from exc
    return text
