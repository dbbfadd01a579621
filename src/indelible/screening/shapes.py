"""Secrets that are known by their looks alone: what vendors put before their keys.

Lengths are lower than the vendors' own, so that a key of next year, or one cut short, is still one. A shape begins
where no letter or digit stands before it, which also keeps the search linear: no run of characters is begun twice.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from typing import TYPE_CHECKING

from indelible.screening.found import Span
from indelible.screening.values import is_placeholder, looks_random

if TYPE_CHECKING:
    from collections.abc import Iterator

_T = r"[A-Za-z0-9_-]"
_PREFIXED = {
    "aws-access-key": r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])",
    "github-token": r"(?:gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+)",
    "gitlab-token": rf"(?:gl(?:pat|dt|rt|ft|soat|ptt|cbt|imt|agent|oas|ffct|wt)-[\w.-]{{18,}}+|GR1348941{_T}{{16,}}+)",
    "slack-token": r"(?:xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{16,}+|xoxe\.[A-Za-z0-9.-]{16,}+)",
    "stripe-key": r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}+|whsec_[A-Za-z0-9+/=]{20,}+)",
    "anthropic-key": rf"sk-ant-{_T}{{16,}}+",
    "openai-key": rf"sk-{_T}{{16,}}+",
    "google-key": rf"(?:AIza{_T}{{28,}}+|ya29\.{_T}{{20,}}+|GOCSPX-{_T}{{16,}}+)",
    "npm-token": r"npm_[A-Za-z0-9]{24,}+",
    "pypi-token": rf"pypi-{_T}{{30,}}+",
    "sendgrid-key": rf"SG\.{_T}{{12,}}+\.{_T}{{12,}}+",
    "twilio-key": r"(?:AC|SK)[0-9a-f]{32}(?![A-Za-z0-9])",
    "digitalocean-token": r"do[opr]_v1_[a-f0-9]{32,}+",
    "huggingface-token": r"(?:hf_[A-Za-z0-9]{24,}+|api_org_[A-Za-z0-9]{24,}+)",
    "telegram-token": rf"[0-9]{{8,10}}:AA{_T}{{28,}}+",
    "jwt": rf"eyJ{_T}{{8,}}+\.{_T}{{4,}}+\.{_T}*+(?:\.{_T}++)*+",
    "azure-key": r"(?<![A-Za-z0-9])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{28,40}",
    "age-key": r"AGE-SECRET-KEY-1[0-9A-Za-z]{16,}+",
    "signing-key": r"PRIVATE\+KEY\+\S{16,}+",
    "openssh-key": r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{8,}+",
    "indelible-api-key": rf"idl_[0-9a-f]{{8,}}_{_T}{{16,}}+",
    "service-token": (
        rf"(?:shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{20,}}+|dapi[a-f0-9]{{32}}|lin_(?:api|oauth)_[A-Za-z0-9]{{20,}}+|ntn_[A-Za-z0-9]{{20,}}+"
        rf"|figd_{_T}{{20,}}+|xai-[A-Za-z0-9]{{20,}}+|gsk_[A-Za-z0-9]{{20,}}+|r8_[A-Za-z0-9]{{20,}}+|pplx-[A-Za-z0-9]{{20,}}+|tvly-{_T}{{16,}}+"
        rf"|nvapi-{_T}{{20,}}+|sb[pa]?_(?:secret_)?[A-Za-z0-9]{{20,}}+|dckr_pat_{_T}{{16,}}+|hv[sb]\.{_T}{{16,}}+|tskey-[A-Za-z0-9-]{{16,}}+"
        rf"|sntry[su]_[A-Za-z0-9+/=_-]{{20,}}+|glsa_\w{{20,}}+|NRAK-[A-Z0-9]{{16,}}+|sq0(?:atp|csp)-{_T}{{20,}}+|EAAA{_T}{{40,}}+"
        rf"|AKCp?[A-Za-z0-9]{{40,}}+|rubygems_[a-f0-9]{{32,}}+|AT(?:ATT3x|BB){_T}{{20,}}+[=A-F0-9]*|LTAI[A-Za-z0-9]{{12,}}+|PMAK-[A-Za-z0-9-]{{20,}}+"
        rf"|pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{40,}}+|pul-[a-f0-9]{{32,}}+|dp\.(?:pt|st|ct)\.[\w.-]{{20,}}+|fo1_{_T}{{20,}}+|FlyV1 \S{{20,}}+"
        rf"|vercel_[a-z]*_?[A-Za-z0-9]{{20,}}+|sk_[A-Za-z0-9]{{32,}}+|key-[0-9a-f]{{32}}|phc?x?_[A-Za-z0-9]{{30,}}+|re_[A-Za-z0-9]+_[A-Za-z0-9]{{16,}}+)"
    ),
}
_PATTERN = re.compile(
    "(?<![A-Za-z0-9])(?:" + "|".join(f"(?P<k{n}>{shape})" for n, shape in enumerate(_PREFIXED.values())) + ")"
)
_KINDS = tuple(_PREFIXED)
_RANDOM = frozenset({"openai-key", "anthropic-key", "slack-token", "service-token", "npm-token", "gitlab-token"})
"""Where the prefix is short enough to begin an ordinary name (`sk-fading-circle`), the rest has to look random."""

_URL = re.compile(r"://([^\s/?#:@\"'`<>\x00-\x1f\ud800-\udfff]{0,128}):([^\s/@\"'`\x00-\x1f\ud800-\udfff]{1,256}+)@")
_HOOK = re.compile(r"://hooks\.slack\.com/(?:services|workflows)/(T[\w/-]{16,256}+)")
_BEARER = re.compile(r"\bBearer\s+([A-Za-z0-9_.~+/=-]{12,}+)", re.IGNORECASE)
_BASIC = re.compile(r"\bBasic\s+([A-Za-z0-9+/]{8,}+={0,2})", re.IGNORECASE)
_LINE_OF_PGPASS = re.compile(
    r"\s*[\w.*-]{1,255}:(?:[0-9]{1,5}|\*):(?:[A-Za-z_*][\w*-]*):([\w.*@-]{1,64}):(\S{3,256})\s*$"
)
_DER = re.compile(r"\s*(MII(?!...CC|...YJ|..jAN|..[gA]KC)[A-Za-z0-9+/]{12,}={0,2})\s*$")
"""DER in base64 without its BEGIN line. Certificates, signed data, public keys and parameters are passed by what their first bytes say."""


def by_shape(line: str) -> Iterator[Span]:
    """The secrets in a line that need no name to be known."""
    for found in _PATTERN.finditer(line):
        kind = _KINDS[int((found.lastgroup or "k0")[1:])]
        secret = found[0]
        if not is_placeholder(secret) and (kind not in _RANDOM or looks_random(secret)):
            yield Span(*found.span(), kind)
    yield from _in_urls(line)
    yield from _in_headers(line)
    if (entry := _LINE_OF_PGPASS.match(line)) and not is_placeholder(entry[2]):
        yield Span(*entry.span(2), "pgpass-password")
    if der := _DER.match(line):
        yield Span(*der.span(1), "private-key")


def _in_urls(line: str) -> Iterator[Span]:
    for found in _URL.finditer(line):
        user, password = found.groups()
        if password != user and not is_placeholder(password, plain=True):
            yield Span(*found.span(2), "url-password")
    for found in _HOOK.finditer(line):
        if not is_placeholder(found[1]):
            yield Span(*found.span(1), "slack-webhook")


def _in_headers(line: str) -> Iterator[Span]:
    for found in _BEARER.finditer(line):
        if looks_random(found[1]) and not is_placeholder(found[1]):
            yield Span(*found.span(1), "bearer-token")
    for found in _BASIC.finditer(line):
        if _is_pair(found[1]):
            yield Span(*found.span(1), "basic-auth")


def _is_pair(text: str) -> bool:
    """Whether it is base64 of `user:password`, as an HTTP header has it."""
    try:
        decoded = b64decode(text + "=" * (-len(text) % 4), validate=True)
        return b":" in decoded and decoded.decode().isprintable()
    except (Error, ValueError):
        return False
