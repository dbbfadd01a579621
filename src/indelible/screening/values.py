"""What a value looks like: a secret, a word, or something put where a secret will be."""

from __future__ import annotations

import re
from math import log2

_PLACEHOLDER = re.compile(
    r"""[<\[{(*…%&]|\$[({A-Za-z_]|\.\.\.|\\?\[masked|"""  # <key>, ${KEY}, $(pass show x), [masked: …], {{ key }}, %(key)s
    r"""(?:process|os|env|environ|secrets?|config|settings|vault|vars?|data|self|this|args|request|params|options|import\.meta)\.|"""
    r"""(?:os\.)?(?:environ|getenv)\b|sha(?:1|2|256|384|512)[:-]|md5:|urn:|https?://|ssh-(?:rsa|ed25519)|@|v[0-9]:<|!(?:Ref|Sub|secret|vault)|arn:|op://|vault:|keyring:|file:|env:"""
)
_WORDY = re.compile(
    r"(?i)(?:^|[^a-z0-9])(?:your|my|the|an?|some|example|sample|placeholder|changeme|change-me|change_me|redacted|masked|hidden|dummy|insert|replace|todo|fixme"
    r"|foo|bar|baz|foobar|here|goes|null|none|undefined|nil|empty|optional|required|omitted|fake)(?:[^a-z0-9]|$)"
)
_FILLER = re.compile(r"(?i)(?:.*[^a-z0-9])?(?:(.)\1{5,}|x{3,}|\*{2,}|\.{3,}|…+)[^a-z0-9]*")
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@-]+)+/?|[A-Za-z]:\\[\w.\\ -]+")
_REFERENCE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*(?:[(\[].*)?")
_VERIFIER = re.compile(r"\S{1,512}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{43,44}=?")
"""A C2SP verifier key, which is public."""
_PATTERN = re.compile(r"\.[*+]|\\[|wdsbSWD(]|\[[^\]]{0,40}\w-\w")
"""A regular expression, which looks for a secret."""
_SEGMENTS = re.compile(r"[-_./:,]+")

_PLAIN = """
pass password passwd pwd secret token key user username pw login admin root guest postgres mysql test string str text bytes
int bool boolean number object any true false yes no null none nil undefined default empty required optional invalid valid
missing unknown hidden input field varchar value hash hashed encrypted plaintext plain base64 hex uuid jwt oauth oauth2 bearer
basic digest md5 sha1 sha256 sha512 sha-256 sha-512 argon2 argon2id argon2i bcrypt scrypt pbkdf2 ed25519 x25519 rsa aes aes256
aes-256 hmac hs256 rs256 es256 utf8 utf-8 changeit changeme deprecated forgot reset signup confirm confirmation wrong incorrect
correct mismatch label type name id
"""
PLAIN = frozenset(_PLAIN.split())
"""Words that stand where a value does and are none."""


def is_placeholder(value: str, *, plain: bool = False) -> bool:
    """Whether it stands for a secret, or is public by its form.

    Args:
        plain: a word of `PLAIN` counts as well.
    """
    return bool(
        _PLACEHOLDER.match(value)
        or _WORDY.search(value)
        or _FILLER.fullmatch(value)
        or _VERIFIER.fullmatch(value)
        or _PATTERN.search(value)
        or (plain and value.lower() in PLAIN)
    )


def is_code(value: str) -> bool:
    """Whether it is a name, a call or a path rather than a value: `self.password`, `getpass()`, `/run/secrets/db`."""
    return bool(_PATH.fullmatch(value)) or bool(
        _REFERENCE.fullmatch(value) and ("(" in value or "[" in value or not _digits(value))
    )


def is_wordy(value: str) -> bool:
    """Whether it is words and numbers with marks between them: `gpt-4o-mini`, `us-east-1`, `v1.2.3`."""
    return all(part.isalpha() or part.isdigit() or len(part) <= 3 for part in _SEGMENTS.split(value) if part)


def looks_random(value: str) -> bool:
    """Whether a machine may have made it: a run that mixes letters and digits, or is long and uneven."""
    longest = max(_SEGMENTS.split(value), key=len)
    if len(value) >= 12 and _digits(value) and not value.isdigit() and not is_wordy(value):
        return True
    return len(longest) >= 20 and _entropy(longest) > 3.8 and longest.lower() != longest != longest.upper()


def is_strong(value: str) -> bool:
    """Whether letters come with digits or signs, as in most passwords, in at least six characters."""
    letters = any(map(str.isalpha, value))
    return len(value) >= 6 and (
        (letters and (_digits(value) or any(char in "!@#$%^&*+~?" for char in value[:-1]))) or value.isdigit()
    )


def _digits(value: str) -> bool:
    return any(char in "0123456789" for char in value)


def _entropy(value: str) -> float:
    """Bits for each character, by Shannon."""
    counts = [value.count(char) for char in set(value)]
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)
