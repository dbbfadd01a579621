"""`/v1/state`: the slots of a state directory, as they are sealed. Their files are the client's.

What is written here the server attests, as it does every plain save; a client with a key of its own sends `/v1/commit`. The
disciplines bind both alike. An amendment is the owner's to sign, and so comes by `/v1/commit` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from indelible.keeping.directory import StateDirectory
from indelible.keeping.writing import Altered
from indelible.server import shapes
from indelible.server.answers import answer, beside, done, etag
from indelible.state.slot import ROOT, check_namespace, key_of, named

if TYPE_CHECKING:
    from starlette.responses import Response

    from indelible.memory import Loaded, Memory
    from indelible.memory.slotted import SealedSlot
    from indelible.seal.proof import TlogProof
    from indelible.server.asking import Ask
    from indelible.state.slot import Slot


async def state(ask: Ask) -> Response:
    """The open slots, and what is wrong with how they came there: with status 409 then."""
    namespace = check_namespace(ask.query.get("namespace", ROOT))
    ask.require_key(f"{namespace}/")
    slots, closed, findings = await ask.read(lambda memory: _state(StateDirectory(memory, None, namespace)))
    value = shapes.State(namespace=namespace, slots=[_row(one.slot, one.loaded) for one in slots], closed=list(closed))
    return beside(value, findings)


def _state(directory: StateDirectory) -> tuple[tuple[SealedSlot, ...], tuple[str, ...], tuple[Altered, ...]]:
    found = directory.check()
    return found.slots, directory.closed(), tuple(map(Altered, found.tampering))


async def show(ask: Ask) -> Response:
    """One slot's text with its proof."""
    namespace, slot = _slot(ask)
    version = ask.version()
    leaf, proof, loaded = await ask.read(lambda memory: _proved(memory, namespace, slot, version))
    row = msgspec.structs.asdict(_row(slot, loaded))
    value = shapes.SlotText(
        **row,
        content=loaded.content.decode(),
        record=msgspec.Raw(loaded.body),
        salt=loaded.salt,
        leaf=leaf,
        proof=proof.format().decode(),
    )
    return answer(value, headers={"etag": etag(loaded.sha256)})


def _proved(memory: Memory, namespace: str, slot: Slot, version: int | None) -> tuple[bytes, TlogProof, Loaded]:
    """The slot first: it says which version, should another one be saved in between."""
    loaded = StateDirectory(memory, None, namespace).show(slot.name, version)
    leaf, proof = memory.proof(loaded.key, loaded.version)
    return leaf, proof, loaded


async def write(ask: Ask) -> Response:
    """Write a slot, as its discipline allows; the server attests it."""
    (namespace, slot), op = _slot(ask), ask.op()
    body = await ask.body(shapes.Slot)
    content = ask.require_size(body.content.encode())
    return done(await ask.write(
        lambda memory: StateDirectory(memory, None, namespace).write(slot.name, content, reason=body.reason, op=op)
    ))  # fmt: skip


async def append(ask: Ask) -> Response:
    """Add to a slot; the server attests it."""
    (namespace, slot), op = _slot(ask), ask.op()
    body = await ask.body(shapes.Slot)
    content = ask.require_size(body.content.encode())
    return done(await ask.write(
        lambda memory: StateDirectory(memory, None, namespace).append(slot.name, content, reason=body.reason, op=op)
    ))  # fmt: skip


async def receipt(ask: Ask) -> Response:
    """Take a receipt in that an approver signed; the server attests that it came, and the approver's signature is what counts."""
    from indelible import wiring
    from indelible.memory.bound import RECEIPT
    from indelible.stepping.receipts import issue
    from indelible.workflow.receipt import receipt_id

    body = await ask.body(shapes.Receipt)
    ask.require_key(f"{RECEIPT}{receipt_id(ask.require_size(body.note))}")
    approvers = wiring.KeyFolder(ask.service.keystore).approvers()
    return done(await ask.write(lambda memory: issue(memory, body.note, approvers, reason=body.reason)))


def _slot(ask: Ask) -> tuple[str, Slot]:
    """Namespace and slot that the request names, if the API key is for them."""
    namespace, slot = check_namespace(ask.query.get("namespace", ROOT)), named(ask.path["name"])
    ask.require_key(key_of(namespace, slot.name))
    return namespace, slot


def _row(slot: Slot, loaded: Loaded) -> shapes.SlotRow:
    return shapes.SlotRow(
        name=slot.name,
        key=loaded.key,
        discipline=slot.discipline,
        version=loaded.version,
        seq=loaded.seq,
        saved_at=loaded.latest.at,
        bytes=len(loaded.content),
        sha256=loaded.sha256,
    )
