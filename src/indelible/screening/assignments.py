"""Secrets that are known by the name they are given: `password = …`, `비밀번호: …`, `--token …`, `machine h login u password …`.

A name alone is innocent ("password rules: at least 12 letters"), and so is a name with a placeholder, a reference or a
path behind it. What a value must look like depends on how it stands there: quoted, behind `=`, behind a colon, in a sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indelible.screening.found import Span
from indelible.screening.values import PLAIN, is_code, is_placeholder, is_strong, is_wordy, looks_random
from indelible.screening.words import PASSWORDS, TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator

_BINARY = r"\x00-\x08\x0e-\x1f\x7f\ud800-\udfff"
"""What text does not hold: control characters, and bytes that are no UTF-8."""
_VALUE = (
    rf"""(?:(?P<quote>\\?["'`“‘「])(?P<quoted>[^"'`”’」\n{_BINARY}]{{3,400}}+)\\?["'`”’」]"""
    rf"""|(?P<bare>[^\s"'`|<>”’」{_BINARY}]{{3,1024}}+))"""
)
_ASSIGNED = re.compile(
    rf"(?P<name>(?P<password>{PASSWORDS})|(?P<token>{TOKENS}))"
    r"(?P<suffix>(?:[_-]?[A-Za-z0-9]+){0,3}+)[\"'`\])*_\\]{0,4}\s{0,4}"
    r"(?P<sign>:\s{0,2}[A-Za-z][\w\[\]|. ]{0,24}=|:=|=>|={1,3}|!==?|[:：＝|>]|(?:은|는|이|가)\s|は|\s(?:is|was|ist|war|es|est)\s)"
    rf"[\s*_]{{0,6}}@?{_VALUE}",
    re.IGNORECASE,
)
_SPACED = re.compile(rf"(?P<name>(?P<password>{PASSWORDS}))(?<!-pass)\s{{1,3}}{_VALUE}", re.IGNORECASE)
_OPTION = re.compile(
    rf"(?<!\S)--?(?:[a-z]+-){{0,2}}+(?:(?P<password>passw(?:or)?d|pass|passphrase|pwd)|(?P<token>token|secret|api-?key|access-?key|secret-?key|client-secret|auth-token))(?:\s+|=){_VALUE}",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"""(?:\bcurl\b.{0,200}?\s(?:-u|--user)|\bwget\b.{0,200}?--user)[\s=]*["']?[^\s:"']{1,64}:(?P<bare>[^\s"']{3,256}+)"""
)
_SHORT = re.compile(
    r"""\b(?:sshpass|mysql(?:dump)?|mariadb|redis-cli)\b.{0,200}?\s(?:-p|-a)\s?["']?(?P<bare>[^\s"'-][^\s"']{2,256}+)"""
)
_SQL = re.compile(
    r"identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?['\"](?P<quoted>[^'\"\n]{3,256}+)['\"]", re.IGNORECASE
)
_XML = re.compile(
    rf"<(?P<name>(?P<password>{PASSWORDS})|(?P<token>{TOKENS}))>(?P<bare>[^<\s]{{4,400}}+)</", re.IGNORECASE
)

_BRACKET = re.compile(r"[)\]}>,]")
_TOKEN = re.compile(r"[A-Za-z0-9_.~+/=:@!#$%^&*|-]+")
"""What a machine makes: no brackets, no other script."""
_NO_SECRET_BEFORE = re.compile(
    r"(?i)(?<![a-z])(?:public|pub|hashed|encrypted|old|primary|foreign|partition|sort|cache|index|verifier|verifying|idempotency|dedupe?|lookup|composite|unique|sort|group|row|object|dict|map"
    r"|translation|i18n|config|hash|no|max|min|total|input|output|prompt|completion|context|num|csrf|next|page|continuation|sync|cancel(?:lation)?)[\s_-]?$"
)
_NO_SECRET_AFTER = re.compile(
    r"(?i)[_-]?(?:files?|path|dir|folder|url|uri|hash|id|ids|name|names|length|len|count|ttl|expir\w*|age|size|type|kind|min|max|policy|policies|env|var|field|help|prompt"
    r"|reset|rules?|store|manager|budget|limit|limits|usage|s?_?per\w*|less|ring|ed|ing|word_?hash|required|enabled|arn|ref|version|format|header|input|form|hint|strength|algo\w*)$"
)
_PROSE_WORDS = """
must should your the at least for of is are be enter a an to and or in not with from that this which when if please type
"""
_PROSE = frozenset(_PROSE_WORDS.split())
_SIGNS = frozenset({"=", ":=", "=>", ":", "：", "＝", "|", ">"})


def by_name(line: str) -> Iterator[Span]:
    """The values in a line that are given the name of a secret."""
    for pattern in (_ASSIGNED, _SPACED, _XML):
        at = 0
        while found := pattern.search(line, at):
            named = found.groupdict()
            span = found.span("quoted" if named.get("quoted") is not None else "bare")
            is_password = named.get("password") is not None
            if _is_secret(line, found, is_password=is_password, spoken=pattern is _SPACED):
                end = span[0] + len(_value(found, is_password=is_password))
                yield Span(span[0], end, "password" if is_password else "secret")
                at = end
            else:
                at = found.end("name")  # a value that is none may be the name of the next one
    for pattern in (_OPTION, _PAIR, _SHORT, _SQL):
        for found in pattern.finditer(line):
            named = found.groupdict()
            part = "quoted" if named.get("quoted") is not None else "bare"
            value = _trim(found[part])
            if (
                not is_placeholder(value, plain=True)
                and not is_code(value)
                and (named.get("token") is None or looks_random(value))
            ):
                yield Span(found.start(part), found.start(part) + len(value), "command-password")


def _value(found: re.Match[str], *, is_password: bool) -> str:
    """What is inside the quotes; else the bare word, without what belongs to the sentence or the brackets round it."""
    named = found.groupdict()
    if named.get("quoted") is not None:
        return str(named["quoted"])
    bare = _trim(named["bare"] or "")
    return bare if is_password else _trim(_BRACKET.split(bare, maxsplit=1)[0])


def _trim(value: str) -> str:
    """A bare value without the punctuation of the sentence that it stands in; in a connection string up to the semicolon."""
    return value.partition(";")[0].rstrip(".,:!?)]}。，、")


def _is_secret(line: str, found: re.Match[str], *, is_password: bool, spoken: bool) -> bool:
    named = found.groupdict()
    suffix, sign, quoted = named.get("suffix") or "", (named.get("sign") or " ").strip(), named.get("quoted")
    value = _value(found, is_password=is_password)
    if _NO_SECRET_AFTER.search(suffix) or _NO_SECRET_BEFORE.search(
        line[max(0, found.start("name") - 24) : found.start("name")]
    ):
        return False
    if len(value) < 4 or is_placeholder(value, plain=True):
        return False
    if " " in value:
        return (
            found["name"].lower() == "passphrase"
            and 3 <= len(value.split()) <= 10
            and _PROSE.isdisjoint(value.lower().split())
        )
    bare = quoted is None
    if _is_path(value) and is_code(value):
        return False
    if bare and is_code(value) and not (sign == "=" and found["name"].isupper() and not _is_path(value)):
        return False
    if not is_password:
        return _is_token(value) and (
            looks_random(value)
            or (_is_told(line, found, sign, bare=bare) and len(value) >= 8 and not is_wordy(value) and is_strong(value))
        )
    if spoken or not (sign in _SIGNS or sign.endswith("=")):
        return value.isascii() and is_strong(value) and not value.isdigit()
    if (not bare or sign == "=") and sign not in ("|", ">"):
        return value.lower() not in PLAIN
    return is_strong(value)


def _is_token(value: str) -> bool:
    return _TOKEN.fullmatch(value) is not None


def _is_told(line: str, found: re.Match[str], sign: str, *, bare: bool) -> bool:
    """Whether a value is quoted or stands behind `=`, and not in the query of an address, where short ones are public."""
    return not bare or (sign == "=" and line[found.start("name") - 1 : found.start("name")] not in ("?", "&"))


def _is_path(value: str) -> bool:
    return value.startswith(("/", "~", "."))
