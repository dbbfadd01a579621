"""The verbs that a plain Memory API server (the seeds' wire form, not ours) can carry out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indelible.cli.output import BAD, OK, WARN, is_korean, visible
from indelible.errors import UsageError
from indelible.memory.results import Saved

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.cli.output import Output
    from indelible.plain.client import PlainClient
    from indelible.plain.results import PlainLoaded
    from indelible.record import Record
    from indelible.settings import Settings
    from indelible.sources import Recorded


class PlainTarget:
    """Stands where a `Memory` stands for save, load and verify; everything else needs a server of ours."""

    warning = ""

    def __init__(self, client: PlainClient) -> None:
        self._client, self.agent = client, client.agent

    def __enter__(self) -> PlainTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def __getattr__(self, name: str) -> object:
        raise UsageError(f"The server at {self._client.place} has a plain Memory API, which has no '{name}'",
                         remedy="It can save, load and verify; the rest needs a server of ours ('indelible serve') or a local store")

    def save(self, key: str, content: bytes, *, record: Callable[[Record | None], Record] | None = None, op: str | None = None,
             **_: object) -> Saved:  # fmt: skip
        expires = record(None).validity.expires_at if record is not None else None
        saved = self._client.save(key, content, expires_at=expires)
        return Saved(key, 0, 0, saved.sha256, op or "", warnings=saved.warnings)

    def load(self, key: str, version: int | None = None, **_: object) -> PlainLoaded:
        if version is not None:
            raise UsageError("A plain Memory API keeps no versions that can be asked for", remedy="Leave --version out")
        return self._client.load(key)

    def recorded(self, key: str) -> Recorded:
        """What the embedded form says of its source: a hint, since whoever altered the text may have altered it too."""
        from indelible.errors import IndelibleError
        from indelible.plain.forms import parse_embedded
        from indelible.seal.digest import Digest
        from indelible.sources import NOWHERE, Recorded

        try:
            parts = parse_embedded(self._client.load(key).stored)
        except IndelibleError:
            return NOWHERE
        if parts is None or not parts.source:
            return NOWHERE
        return Recorded(parts.source, parts.branch, str(parts.checksum) if isinstance(parts.checksum, Digest) else None, embedded=True)

    def judge(self, key: str, file: str | None, output: Output, *, strict: bool) -> int:
        """`verify` in the seed's three states, on one line."""
        loaded = self._client.load(key)
        state, notes = loaded.checksum_ok, list(loaded.warnings)
        code = 2 if state is False or (state is None and strict) else 0
        if file is not None and code == 0 and _read(file) != loaded.stored:
            code = 2
            notes.append(f"{file} is not what the server holds")
        if not loaded.keyed and state is not None:
            notes.append("unkeyed: a checksum beside the text does not stop someone who can rewrite both")
        output.line(_line(loaded, code))
        for note in dict.fromkeys(notes):
            output.aside(f"{WARN} {note}")
        output.document({"ok": code == 0, "exit_code": code, "slug": loaded.verdict.reason, "key": key, "agent": self.agent, "sha256": loaded.sha256,
                         "checksum_ok": state, "keyed": loaded.keyed, "notes": notes})  # fmt: skip
        return code


def _line(loaded: PlainLoaded, code: int) -> str:
    korean, key = is_korean(), visible(loaded.key)
    if loaded.checksum_ok is None:
        said = "체크섬 없음 — 구버전 저장본" if korean else "no checksum: a legacy memory, which cannot be checked"
        return f"{BAD if code else WARN} {said}: {key}"
    if code:
        said = "변조 감지 — 복원 중단 권고" if korean else "tampering found — do not restore from this store"
        return f"{BAD} {said}: {key} ({loaded.verdict.message})"
    return f"{OK} {'검증 통과' if korean else 'verified'}  sha256:{loaded.sha256}  {key}"


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as handle:
            return handle.read()
    except OSError as exc:
        raise UsageError(f"{file} cannot be read ({exc.strerror})", remedy="Name the local copy to compare") from exc


def plain_target(settings: Settings) -> PlainTarget:
    """The plain server that the settings name, with this machine's receipts."""
    from indelible.plain.client import PlainClient
    from indelible.plain.receipts import Receipts
    from indelible.settings import api_key, now

    receipts = Receipts(os.path.join(settings.state_dir, "receipts.db"), now)
    return PlainTarget(PlainClient(settings.store, settings.agent, api_key(settings, settings.agent).text, receipts=receipts))
