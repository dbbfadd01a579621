"""`/openapi.json`: OpenAPI 3.1, written from the table of operations and the types that requests are read by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from indelible import __version__
from indelible.errors import HeldError
from indelible.server import gateshapes, shapes
from indelible.server.problems import MEDIA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.server.operation import Operation, Param

_EVERYWHERE = {
    400: "The request is off: a query, a body or a header",
    401: "No API key, or none that is in force",
    403: "The API key does not allow it: another agent, another verb, another prefix",
    503: "Not now: busy, or it could not be checked",
}
_SOMETIMES = {
    404: "Nothing there",
    409: "A conflict; or what is stored is not what was sealed",
    412: "The condition of If-Match or If-None-Match does not hold",
    413: "Too large",
    422: "There is what looks like a secret, or a signed transaction that does not hold together",
    423: "Held: it does not apply here and now; each reason is given",
}
_JSON = "application/json"


def document(operations: Iterable[Operation]) -> dict[str, object]:
    """The whole description."""
    table = tuple(operations)
    types = {kind for each in table for kind in (each.body, each.answer) if isinstance(kind, type)} | {
        shapes.Problem,
        gateshapes.HeldProblem,
        shapes.Health,
    }
    ordered = sorted(types, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, object]] = {}
    for each in table:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    paths["/healthz"] = {"get": _health()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Indelible Memory API",
            "version": __version__,
            "description": "Memory for AI agents that can be checked before it is believed.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        },
        "security": [{"apiKey": []}],
    }


def _operation(each: Operation) -> dict[str, object]:
    name = "".join(part.strip("{}").capitalize() for part in each.path.split("/"))
    told: dict[str, object] = {"operationId": each.method.lower() + name, "summary": each.about}
    if each.params:
        told["parameters"] = [_param(param) for param in each.params]
    if each.body is not None:
        told["requestBody"] = {"required": True, "content": {_JSON: {"schema": _ref(each.body)}}}
    told["responses"] = {
        "200": _answer(each.answer),
        **{str(status): _problem(status, words) for status, words in _errors(each).items()},
    }
    return told


def _errors(each: Operation) -> dict[int, str]:
    return dict(sorted({**_EVERYWHERE, **{status: _SOMETIMES[status] for status in each.errors}}.items()))


def _param(param: Param) -> dict[str, object]:
    required = {"required": True} if param.required else {}
    least = {"minLength": 1} if param.required else {}
    most = {} if param.most is None else {"maximum": param.most}
    schema = {"type": "integer", "minimum": param.least, **most} if param.whole_number else {"type": "string", **least}
    return {"name": param.name, "in": param.place, "description": param.about, **required, "schema": schema}


def _answer(kind: type[msgspec.Struct] | str) -> dict[str, object]:
    if isinstance(kind, str):
        return {"description": "Done", "content": {kind: {}}}
    return {"description": "Done", "content": {_JSON: {"schema": _ref(kind)}}}


def _problem(status: int, words: str) -> dict[str, object]:
    kind = gateshapes.HeldProblem if status == HeldError.http_status else shapes.Problem
    return {"description": words, "content": {MEDIA: {"schema": _ref(kind)}}}


def _health() -> dict[str, object]:
    return {
        "operationId": "getHealthz",
        "summary": "Whether the server answers",
        "security": [],
        "responses": {"200": _answer(shapes.Health)},
    }


def _ref(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
