"""The verbs that a plain Memory API server (the seeds' wire form, not ours) can carry out."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from indelible.cli.fast import DIFFERENT, LINE_ENDINGS
from indelible.cli.inputs import read_input
from indelible.cli.output import BAD, OK, WARN, is_korean, visible
from indelible.errors import ConflictError, DisciplineError, NotFoundError, UsageError
from indelible.memory.results import Saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from indelible.cli.output import Output
    from indelible.plain.client import PlainClient
    from indelible.plain.results import PlainLoaded
    from indelible.record import Record
    from indelible.screening import Screened
    from indelible.settings import Settings
    from indelible.sourcebook import Recorded


class PlainTarget:
    """Stands where a `Memory` stands for save, load and verify; everything else needs a server of ours."""

    warning = ""

    def __init__(self, client: PlainClient, team: str) -> None:
        self._client, self.agent, self.team = client, client.agent, team

    def __getattr__(self, name: str) -> object:
        raise UsageError(
            f"The server at {self._client.place} has a plain Memory API, which has no '{name}'",
            remedy="It can save, load and verify; the rest needs a server of ours ('indelible serve') or a local store",
        )

    def admit(self, content: bytes, names: Mapping[str, str] | None = None) -> Screened:
        """What of `content` may be sent there, as `Memory.admit` says it."""
        return self._client.admit(content, names)

    def save(self, key: str, content: bytes | Screened, *, record: Callable[[Record | None], Record] | None = None, op: str | None = None,
             based_on: str | None = None, how: str = "saved", allow_empty: bool = False, **_: object) -> Saved:  # fmt: skip
        given, found = (content, ()) if isinstance(content, bytes) else content
        if how != "forced":
            self._check(key, given, based_on, allow_empty=allow_empty)
        expires = record(None).validity.expires_at if record is not None else None
        saved = self._client.save(key, given, expires_at=expires)
        masked = (*map(str, found), *saved.masked)
        return Saved(key, 0, 0, saved.sha256, op or "", warnings=saved.warnings, masked=masked)

    def _check(self, key: str, content: bytes, based_on: str | None, *, allow_empty: bool) -> None:
        """What a save promises elsewhere, as far as a server without conditions allows: it is looked at just before."""
        if based_on is None and (content or allow_empty):
            return
        try:
            before: bytes | None = self._client.load(key).stored
        except NotFoundError:
            before = None
        expected = None if based_on is None else based_on.removeprefix("sha256:").lower()
        actual = "" if before is None else sha256(before).hexdigest()
        if expected is not None and expected != actual:
            raise ConflictError(
                f"{key!r} changed since it was read: it was sha256:{expected or '(nothing)'} and is sha256:{actual or '(nothing)'}",
                remedy="Load it again and put your change on top, or say --force",
                key=key,
                based_on=expected,
                actual=actual,
            )
        if not content and before and not allow_empty:
            raise DisciplineError(
                f"{key!r} holds {len(before)} bytes and would be emptied",
                remedy="Say --allow-empty if that is meant",
                key=key,
            )

    def load(self, key: str, version: int | None = None, **_: object) -> PlainLoaded:
        if version is not None:
            raise UsageError("A plain Memory API keeps no versions that can be asked for", remedy="Leave --version out")
        return self._client.load(key)

    def fetch(self, key: str, version: int | None = None) -> PlainLoaded:
        return self.load(key, version)

    def recorded(self, key: str) -> Recorded:
        """What the embedded form says of its source: a hint, since whoever altered the text may have altered it too."""
        from indelible.errors import IndelibleError
        from indelible.plain.forms import parse_embedded
        from indelible.seal.digest import Digest
        from indelible.sourcebook import NOWHERE, Recorded

        try:
            parts = parse_embedded(self._client.load(key).stored)
        except IndelibleError:
            return NOWHERE
        if parts is None or not parts.source:
            return NOWHERE
        return Recorded(
            parts.source,
            parts.branch,
            str(parts.checksum) if isinstance(parts.checksum, Digest) else None,
            embedded=True,
        )

    def judge_plainly(self, key: str, file: str | None, output: Output, *, strict: bool) -> int:
        """`verify` in the seed's three states, on one line."""
        loaded = self._client.load(key)
        state, notes = loaded.checksum_ok, list(dict.fromkeys(loaded.warnings))
        code = DIFFERENT if state is False or (state is None and strict) else 0
        lines, local = [_line(loaded, code)], ""
        if file is not None and not code:
            local = _local(read_input(file), loaded)
            lines += {"line-endings": [f"{WARN} {file} differs from it in line endings only"],
                      "different": [f"{BAD} {file} is not what the server holds"]}.get(local, [])  # fmt: skip
            code = {"line-endings": LINE_ENDINGS, "different": DIFFERENT}.get(local, 0)
        output.line("\n".join(lines))
        for note in notes:
            output.aside(f"{WARN} {note}")
        output.document({
            "ok": code == 0, "exit_code": code, "slug": "local-differs" if local == "different" else local if code == LINE_ENDINGS else loaded.verdict.reason,
            "key": key, "agent": self.agent, "sha256": loaded.sha256, "checksum": f"sha256:{_of_text(loaded)}", "checksum_ok": state,
            "keyed": loaded.keyed, "local": local, "notes": notes,
        })  # fmt: skip
        return code


def _line(loaded: PlainLoaded, code: int) -> str:
    korean, key = is_korean(), visible(loaded.key)
    if loaded.checksum_ok is None:
        said = "체크섬 없음 — 구버전 저장본" if korean else "no checksum: a legacy memory, which cannot be checked"
        return f"{BAD if code else WARN} {said}: {key}"
    if code:
        said = "변조 감지 — 복원 중단 권고" if korean else "tampering found — do not restore from this store"
        return f"{BAD} {said}: {key} ({loaded.verdict.message})"
    return f"{OK} {'검증 통과' if korean else 'verified'}  sha256:{_of_text(loaded)}  {key}"


def _of_text(loaded: PlainLoaded) -> str:
    """The digest that `sha256sum` gives of the file: of the text, where that is inside JSON."""
    return loaded.sha256 if loaded.embedded is None else sha256(loaded.embedded.text.encode()).hexdigest()


def _local(local: bytes, loaded: PlainLoaded) -> str:
    """A local copy beside what is stored; beside the text, where that is inside JSON."""
    texts = (loaded.stored, *((loaded.embedded.text.encode(),) if loaded.embedded else ()))
    if local in texts:
        return "same"
    return "line-endings" if _with_newlines(local) in map(_with_newlines, texts) else "different"


def _with_newlines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@contextmanager
def plain_target(settings: Settings) -> Iterator[PlainTarget]:
    """The plain server that the settings name, with this machine's receipts."""
    from indelible import wiring

    with wiring.open_plain(settings) as client:
        yield PlainTarget(client, settings.team)
