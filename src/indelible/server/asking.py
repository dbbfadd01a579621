"""One request, read strictly: who asks, for what, with which body.

The agent is the one that the API key belongs to. A request that names another one, anywhere, is refused before
anything is looked up, so that the answer is the same whether or not there is something.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote_to_bytes

from indelible.entry import check_text
from indelible.errors import AccessDenied, DisciplineError, UsageError
from indelible.gate.presets import PRESETS
from indelible.memory.accepting import fetch_at_once
from indelible.memory.judging import deliver
from indelible.seal.digest import Digest
from indelible.server.apikeys import READ, NoCredential
from indelible.server.bodies import ESCAPES, OVERHEAD, parse
from indelible.server.context import asked
from indelible.server.problems import TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import msgspec
    from starlette.types import Receive, Scope

    from indelible.memory import Loaded, Memory
    from indelible.memory.results import Held
    from indelible.server.apikeys import ApiKey
    from indelible.server.context import Asked
    from indelible.server.operation import Operation
    from indelible.server.service import Service

B = TypeVar("B", bound="msgspec.Struct")
T = TypeVar("T")

AGENT_HEADERS = ("x-agent", "x-agent-id", "x-memory-agent")
"""Where other servers' clients name an agent: it has to be the key's own."""
PLAIN = "plain"
"""The seeds' wire form, as the deliveries name it."""
LIFECYCLE = PRESETS["lifecycle"]
STATES = ("active", "archived", "superseded", "erased")
_WILD = frozenset({"", "*", "%"})


class Ask:
    """One request with its caller and its checked query."""

    __slots__ = ("_headers", "_receive", "caller", "path", "query", "service")

    def __init__(self, service: Service, operation: Operation, scope: Scope, receive: Receive) -> None:
        self.service, self._receive = service, receive
        self._headers = headers_of(scope)
        self.path: Mapping[str, str] = scope.get("path_params", {})
        self.caller = self._authenticate(operation)
        self.query = parse_query(scope["query_string"], operation)
        self.require_agent(self.query.get("agent"))
        for name in AGENT_HEADERS:
            self.require_agent(self._headers.get(name))

    def _authenticate(self, operation: Operation) -> ApiKey:
        caller = self.service.keys.authenticate(self._headers.get("x-api-key", ""))
        if operation.verb not in caller.verbs:
            raise AccessDenied(
                f"This API key does not allow to {operation.verb}", remedy="Ask who runs the server for one that does"
            )
        if operation.whole and caller.prefix:
            raise AccessDenied(
                "This API key is for some keys only, and this is about the whole log",
                remedy="Ask who runs the server for one for all keys",
            )
        return caller

    @property
    def agent(self) -> str:
        return self.caller.agent

    def require_agent(self, named: str | None) -> None:
        """Refuse another agent's name."""
        if named is None or named == self.caller.agent:
            return
        if named in _WILD:
            raise UsageError(
                "The agent is named with nothing or with a wildcard",
                remedy="Name the API key's own agent, or leave it out",
            )
        raise AccessDenied("This API key is another agent's", remedy="Name the API key's own agent, or leave it out")

    def require_key(self, key: str) -> str:
        """`key`, if it is one, and one that the API key is for."""
        check_text(key, "key")
        if not key.startswith(self.caller.prefix):
            raise AccessDenied(
                "This API key is for other keys only", remedy="Ask who runs the server for one that is for this key"
            )
        return key

    def key(self) -> str:
        """The memory key that the query names."""
        return self.require_key(self.query["key"])

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**40) -> int:
        """A whole number of the query or the path."""
        text = self.query.get(name, self.path.get(name))
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) <= 13 and least <= int(text) <= most):
            raise UsageError(f"{name} is not a whole number from {least} to {most}", member=name)
        return int(text)

    def version(self) -> int | None:
        """The version that the query names; None for the present one."""
        return self.number("version", 0, least=1) if "version" in self.query else None

    def prefix(self) -> str:
        """The prefix that the query names, within what the API key is for."""
        return self.within(self.query.get("prefix", ""))

    def within(self, prefix: str) -> str:
        """`prefix`, or what the API key is for where that says more.

        Raises:
            AccessDenied: it leads elsewhere.
        """
        if prefix.startswith(self.caller.prefix):
            return prefix
        return self.require_key(prefix) if prefix else self.caller.prefix

    def stands(self) -> Asked:
        """Where the reader stands, and by which policy it wants to be judged."""
        settings = self.service.settings
        return asked(self.query, policy=settings.policy, admits_global=settings.admits_global)

    def states(self, default: str) -> frozenset[str]:
        """The states that the query names."""
        states = frozenset(self.query.get("state", default).split(","))
        if not states <= frozenset(STATES):
            raise UsageError(f"state is one or more of {', '.join(STATES)}, with commas", member="state")
        return states

    def flag(self, name: str) -> bool:
        """A switch of the query."""
        text = self.query.get(name, "0")
        if text not in ("0", "1", "false", "true"):
            raise UsageError(f"{name} is neither 1 nor 0", member=name)
        return text in ("1", "true")

    def op(self) -> str | None:
        """The operation id that the client chose."""
        text = self._headers.get("idempotency-key")
        if text is not None:
            check_text(text, "Idempotency-Key")
        return text

    def based_on(self) -> str | None:
        """SHA-256 of the version that the client had read (If-Match); "" for "there was none" (If-None-Match: *)."""
        match, none_match = self._headers.get("if-match"), self._headers.get("if-none-match")
        if none_match is not None:
            if none_match != "*" or match is not None:
                raise UsageError(
                    "If-None-Match is '*' here, without If-Match",
                    remedy="Name the version that you had read with If-Match",
                )
            return ""
        if match is None:
            return None
        text = match[1:-1] if len(match) > 2 and match[0] == match[-1] == '"' else match
        return Digest.parse(text).hex

    def header(self, name: str) -> str | None:
        """One request header, by its name in lower case."""
        return self._headers.get(name)

    async def load(self, key: str) -> Loaded | Held:
        """What the seeds' wire form judges, lifecycle alone: on the loop where nothing new has to be followed, else in the reading thread."""
        here = self.service.rooms.here(self.agent)
        loaded = fetch_at_once(here, key)
        if loaded is not None:
            return deliver(here, loaded, here.gate.through(PLAIN, LIFECYCLE))
        return await self.read(lambda memory: memory.deliver(key, policy=LIFECYCLE, door=PLAIN))

    async def read(self, job: Callable[[Memory], T]) -> T:
        """Run `job` on the caller's memory, in the reading thread."""
        return await self.service.rooms.read(self.agent, job)

    async def write(self, job: Callable[[Memory], T]) -> T:
        """Run `job` on the caller's memory, in the writing thread.

        What stands in a slot is not told, by its digest, to who may not read it: a short text could be guessed from that.
        """
        try:
            return await self.service.rooms.write(self.agent, job)
        except DisciplineError as refused:
            if READ in self.caller.verbs or not refused.facts.get("sha256"):
                raise
            words = refused.message.partition(" (sha256:")[0]
            raise DisciplineError(words, remedy=refused.remedy, slot=refused.facts.get("slot")) from None

    async def body(self, kind: type[B]) -> B:
        """The request's body, which has to be a `kind`; see `bodies`."""
        if self._headers.get("content-encoding", "identity") != "identity":
            raise UsageError("The body is compressed, which is not taken here", remedy="Send it as it is")
        limit = self.service.limit * ESCAPES + OVERHEAD
        async with self.service.intake.take(self._receive, self._headers.get("content-length"), limit) as data:
            return await parse(data, kind)

    def require_size(self, content: bytes) -> bytes:
        """`content`, if it is no larger than the server takes."""
        if len(content) > self.service.limit:
            raise TooLarge(
                f"The content has {len(content)} bytes; the limit is {self.service.limit}",
                remedy="Save it in parts, or raise the server's limit",
            )
        return content


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by name; one that counts here must not be there twice."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        lower = name.decode("latin-1").lower()
        if lower in found and lower in ("x-api-key", "idempotency-key", "if-match", "if-none-match", *AGENT_HEADERS):
            raise (
                NoCredential("x-api-key is given twice")
                if lower == "x-api-key"
                else UsageError(f"The header {lower} is given twice")
            )
        found[lower] = value.decode("utf-8", "surrogateescape")
    return found


def parse_query(raw: bytes, operation: Operation) -> dict[str, str]:
    """The query as text: UTF-8, every name once, and none that the operation does not know.

    A key that was not quoted (`a&b`) is noticed so, and not cut.
    """
    found: dict[str, str] = {}
    for pair in raw.split(b"&") if raw else ():
        name, value = (_text(part) for part in (pair.partition(b"=")[0], pair.partition(b"=")[2]))
        if name not in operation.query_names:
            raise _unknown(name, operation.query_names, alone=b"=" not in pair)
        if name in found:
            raise UsageError(f"The query names {name} twice", member=name)
        found[name] = value
    for param in operation.params:
        if param.required and param.place == "query" and param.name not in found:
            raise UsageError(
                f"The query lacks {param.name}", remedy=f"Say {param.name}=… ({param.about})", member=param.name
            )
    return found


def _unknown(name: str, known: tuple[str, ...], *, alone: bool) -> UsageError:
    """The refusal of a name that there is not: misspelt, or what follows a `&` in a key that was not quoted."""
    near = get_close_matches(name, known, n=1)
    if near:
        remedy = f"The nearest that there is: {near[0]}"
    elif alone:
        remedy = "Quote '&', '#', '+' and '%' in keys"
    else:
        remedy = f"There is {', '.join(known)}" if known else "Leave it out: this path takes none"
    return UsageError(f"There is no query parameter {name:.40}", remedy=remedy, allowed=" ".join(known))


def _text(part: bytes) -> str:
    try:
        return unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError("The query is not UTF-8") from exc
