"""`screen`: what may enter of a content and of the short texts beside it.

Content is searched as UTF-8 with what is no UTF-8 carried through, so that masking changes the secret and not one other
byte. A secret in a name is refused in every mode but `allow`: a mask would make it another name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import NotSaved, SecretRefused
from indelible.screening.found import ALLOW, MASK, Found, Screened
from indelible.screening.prefilter import pointed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indelible.screening.found import Span

_NAMED = 5
"""Finds that an error names; the rest are counted."""
_ROUNDS = 4
"""How often masked text is looked at again before it is refused after all."""


def screen(content: bytes, *, mode: str, names: Mapping[str, str] | None = None) -> Screened:
    """Return what may be stored of `content`.

    Args:
        mode: `refuse`, `mask` or `allow`.
        names: the short texts beside it by what they are: key, tag, title, source, reason, …

    Raises:
        SecretRefused: a secret is there, and the mode is `refuse`, or it stands where nothing can be masked.
    """
    if mode == ALLOW:
        return Screened(content, ())
    in_names = _in_names(names) if names else ()
    text, spans = _search(content)
    if spans or in_names or _hidden(content):
        found = _found(text, spans)
        if mode != MASK or in_names or not spans or _is_sealed_form(content):
            raise refusal(
                (*in_names, *(found or (Found("secret", "content"),) * (not in_names))),
                maskable=mode != MASK and not in_names,
            )
        return _masked(text, spans, found)
    return Screened(content, ())


def refusal(found: Iterable[Found], *, maskable: bool) -> SecretRefused:
    """The error for what was found."""
    every = tuple(dict.fromkeys(map(str, found)))
    told = ", ".join(every[:_NAMED]) + (f" and {len(every) - _NAMED} more" if len(every) > _NAMED else "")
    ways = (
        "put a placeholder in its place, or let it be masked with INDELIBLE_SECRETS=mask"
        if maskable
        else "put a placeholder in its place"
    )
    return SecretRefused(
        f"Not saved: there is what looks like a secret: {told}",
        remedy=f"Take it out; {ways}. If it is real, change it where it is in force",
        found="; ".join(every),
    )


def _in_names(given: Mapping[str, object]) -> tuple[Found, ...]:
    """What is found beside the content; all of it is looked at once, and each on its own only where there is reason to."""
    names = {where: text for where, text in given.items() if isinstance(text, str)}  # what is none is refused for that
    if not _suspect("\n".join(names.values()).encode("utf-8", "surrogatepass")):
        return ()
    return tuple(
        Found(span.kind, where)
        for where, text in names.items()
        for span in _search(text.encode("utf-8", "surrogatepass"))[1]
    )


def _suspect(content: bytes) -> bool:
    text = content.decode("utf-8", "surrogateescape")
    return any(True for _ in pointed(text, content.lower().decode("utf-8", "surrogateescape")))


def _search(content: bytes) -> tuple[str, tuple[Span, ...]]:
    text = content.decode("utf-8", "surrogateescape")
    at = tuple(pointed(text, content.lower().decode("utf-8", "surrogateescape")))
    if not at:
        return text, ()
    return text, _detect(text, at)


def _detect(text: str, at: tuple[int, ...]) -> tuple[Span, ...]:
    """Fails closed: where the detectors cannot even be loaded (no file can be opened any more), nothing is stored."""
    try:
        from indelible.screening.detecting import detect

        return detect(text, at)
    except (ImportError, OSError) as exc:
        raise NotSaved(
            f"Not saved: it could not be looked for secrets ({type(exc).__name__})",
            remedy="Close some files or programs, and check the installation ('pip install detect-secrets')",
        ) from exc


def _hidden(content: bytes) -> bool:
    """Whether a secret shows once the zero bytes of UTF-16 or UTF-32 are taken out. Such text cannot be masked in place."""
    return b"\0" in content and bool(_search(content.replace(b"\0", b""))[1])


def _is_sealed_form(content: bytes) -> bool:
    """Whether the text is inside JSON that states its checksum, which a mask would make a lie."""
    return content.lstrip().startswith(b"{") and b'"text"' in content and b'"checksum"' in content


def _found(text: str, spans: tuple[Span, ...]) -> tuple[Found, ...]:
    if not spans:
        return ()
    from indelible.screening.detecting import lines_of

    lines = lines_of(text, (span.start for span in spans))
    return tuple(Found(span.kind, f"content line {line}") for span, line in zip(spans, lines, strict=True))


def _masked(text: str, spans: tuple[Span, ...], found: tuple[Found, ...]) -> Screened:
    """The content with marks, looked at again until nothing is left: a mark must not make a new secret of what stands beside it."""
    for _ in range(_ROUNDS):
        content = _put_marks(text, spans)
        text, spans = _search(content)
        if not spans:
            return Screened(content, found)
    raise refusal(found, maskable=False)


def _put_marks(text: str, spans: tuple[Span, ...]) -> bytes:
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], f"[masked: {span.kind}]"]
        at = span.end
    return "".join((*parts, text[at:])).encode("utf-8", "surrogateescape")
