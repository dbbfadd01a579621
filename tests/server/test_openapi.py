"""`/openapi.json`: every route is there, every reference leads somewhere, and real answers are as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import jsonschema
import pytest
from tests.serving import save

from indelible.server.routes import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.serving import Served


@pytest.fixture(scope="module")
def document(shared: Served) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{shared.url}/openapi.json").json()
    return found


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_operation_is_described_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(each.method, each.path) for each in OPERATIONS} | {("GET", "/healthz")}
    assert document["openapi"].startswith("3.1.")
    assert {ref.removeprefix("#/components/schemas/") for ref in references(document)} <= set(
        document["components"]["schemas"]
    )
    ids = [each["operationId"] for methods in document["paths"].values() for each in methods.values()]
    assert len(ids) == len(set(ids))


def test_every_schema_is_one(document: dict[str, Any]) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/memory/load", 200), ("/memory/load?key=k", 200), ("/v1/memories", 200), ("/v1/memory?key=k", 200), ("/v1/history?key=k", 200), ("/v1/proof?key=k", 200),
        ("/v1/head", 200), ("/v1/entries", 200), ("/v1/sealed?seq=0", 200), ("/v1/operation?op=x", 200), ("/v1/keys", 200), ("/v1/audit", 200), ("/healthz", 200),
        ("/v1/verdict?key=k", 200), ("/v1/held", 200), ("/v1/held?policy=strict", 200), ("/v1/deliveries", 200), ("/v1/delivery?number=1", 200),
        ("/v1/reviews?key=k", 200), ("/v1/memory?key=k&policy=strict", 423), ("/v1/consistency?old=1", 200), ("/v1/memory?key=none", 404), ("/v1/memories?limit=x", 400), ("/memory/load?agent=other", 403),
    ],
)  # fmt: skip
def test_an_answer_is_as_the_description_says(shared: Served, document: dict[str, Any], path: str, status: int) -> None:
    client = shared.client("described")
    save(client, "k", "x")
    client.get("/v1/memory?key=k")
    reply = client.get(path)
    told = document["paths"][path.split("?", maxsplit=1)[0]]["get"]["responses"][str(reply.status_code)]["content"]
    media = reply.headers["content-type"]
    assert (reply.status_code, list(told)) == (status, [media])
    schema = {**told[media]["schema"], "components": document["components"]}
    jsonschema.Draft202012Validator(schema).validate(reply.json())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/memories", "limit"),
        ("/v1/history?key=k", "limit"),
        ("/v1/held", "limit"),
        ("/v1/deliveries", "limit"),
        ("/v1/memory?key=k", "version"),
        ("/v1/sealed?seq=0", "count"),
    ],
)
def test_the_bounds_that_it_gives_are_those_that_are_kept(
    shared: Served, document: dict[str, Any], path: str, name: str
) -> None:
    client = shared.client("bounds")
    assert client.post("/memory/save", json={"key": "k", "content": "v"}).status_code == 200
    told = document["paths"][path.partition("?")[0]]["get"]["parameters"]
    (schema,) = (param["schema"] for param in told if param["name"] == name)
    join = "&" if "?" in path else "?"
    good = [schema["minimum"], *([schema["maximum"]] if "maximum" in schema else [])]
    bad = [schema["minimum"] - 1, *([schema["maximum"] + 1] if "maximum" in schema else [])]
    assert [client.get(f"{path}{join}{name}={value}").status_code for value in good] == [200] * len(good)
    assert [client.get(f"{path}{join}{name}={value}").status_code for value in bad] == [400] * len(bad)
