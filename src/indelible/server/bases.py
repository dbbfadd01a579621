"""The two kinds of bodies, and the words that shapes share."""

# msgspec reads annotations at run time, so this file does not postpone them.

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Reason = Annotated[str, Meta(max_length=2_000)] | None
Encoding = Literal["utf-8", "base64"]
Class = Literal["user", "agent", "tool", "external"]
Size = Annotated[int, Meta(ge=0)]


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A body that a client sends."""


class Answer(msgspec.Struct, frozen=True):
    """A body that the server sends."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that is not as it was sealed."""

    slug: str
    message: str
    remedy: str = ""
    key: str | None = None
    seq: int | None = None
