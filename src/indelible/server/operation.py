"""What one path and method does, who may, and what goes in and out: the server routes by it and `/openapi.json` tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import msgspec
    from starlette.responses import Response

    from indelible.server.asking import Ask


@dataclass(frozen=True, slots=True)
class Param:
    """One thing that the query, the path or a header says."""

    name: str
    about: str
    required: bool = False
    whole_number: bool = False
    least: int = 0
    most: int | None = None
    place: Literal["query", "path", "header"] = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    about: str
    verb: str
    """What the API key has to allow."""
    run: Callable[[Ask], Awaitable[Response]]
    params: tuple[Param, ...] = ()
    body: type[msgspec.Struct] | None = None
    answer: type[msgspec.Struct] | str = "text/plain"
    """A type of JSON, or a media type."""
    whole: bool = False
    """It is about the whole log, so a key with a prefix does not reach it."""
    errors: tuple[int, ...] = ()
    """HTTP statuses that it answers with, besides those that every operation has."""

    @property
    def query_names(self) -> tuple[str, ...]:
        return tuple(param.name for param in self.params if param.place == "query")
