"""The table of everything that the server does: the seeds' two paths, and `/v1`."""

from __future__ import annotations

from indelible.server import auditing, log, shapes, v1, wire
from indelible.server.apikeys import ERASE, READ, WRITE
from indelible.server.operation import Operation, Param

_AGENT = Param("agent", "The API key's own agent; may be left out")
_KEY = Param("key", "The memory's key: any text of 1 to 512 bytes of UTF-8, quoted", required=True)
_VERSION = Param("version", "An older version; by default the present one", whole_number=True)
_LIMIT = Param("limit", "How many at most: 1 to 1000", whole_number=True)
_OP = Param("Idempotency-Key", "The operation id: a repeat of it adds nothing and answers as the first time", place="header")
_MATCH = Param("If-Match", 'The version that this one is based on, as its entity tag: "sha256:…"', place="header")
_NONE = Param("If-None-Match", "*: only if there is nothing under this key", place="header")
_LEVEL = Param("level", "Level of the tile", required=True, whole_number=True, place="path")
_N = Param("n", "Its number", required=True, whole_number=True, place="path")

OPERATIONS = (
    Operation("POST", "/memory/save", "Save a memory, in the seeds' form", WRITE, wire.save, body=shapes.Save, answer=shapes.SavedPlain, errors=(409, 413)),
    Operation(
        "GET", "/memory/load", "Load one memory or all, in the seeds' form", READ, wire.load,
        (_AGENT, Param("key", "The memory's key, or KEY.sha256 for its checksum; without it, all of them")), answer=shapes.Rows, errors=(409,),
    ),
    Operation(
        "GET", "/v1/memories", "List memories, page by page", READ, v1.memories,
        (
            _AGENT, Param("prefix", "Only keys that begin with it"), _LIMIT, Param("cursor", "`next` of the page before"),
            Param("state", "active, archived, superseded, erased: one or more, with commas"),
        ),
        answer=shapes.Page, errors=(409,),
    ),
    Operation(
        "GET", "/v1/memory", "Load one version with its proof", READ, v1.memory,
        (_AGENT, _KEY, _VERSION, Param("held", "1: an archived or expired one too")), answer=shapes.Memory, errors=(404, 409, 423),
    ),
    Operation(
        "PUT", "/v1/memory", "Save a version, attested by this server", WRITE, v1.put, (_AGENT, _KEY, _OP, _MATCH, _NONE),
        body=shapes.Put, answer=shapes.Done, errors=(409, 412, 413),
    ),
    Operation(
        "DELETE", "/v1/memory", "Erase a memory: content goes, proofs stand", ERASE, v1.erase,
        (_AGENT, _KEY, Param("reason", "Why; it stands in the log"), _OP), answer=shapes.Done, errors=(404, 409),
    ),
    Operation("POST", "/v1/archive", "Put a memory away", WRITE, v1.archive, (_AGENT, _OP), shapes.Named, shapes.Done, errors=(404, 409)),
    Operation("POST", "/v1/unarchive", "Bring an archived memory back", WRITE, v1.unarchive, (_AGENT, _OP), shapes.Named, shapes.Done, errors=(404, 409)),
    Operation("POST", "/v1/restore", "Save an older version again as the newest", WRITE, v1.restore, (_AGENT, _OP), shapes.Restore, shapes.Done, errors=(404, 409)),
    Operation(
        "GET", "/v1/history", "What happened to a memory, newest first", READ, v1.history,
        (_AGENT, _KEY, _LIMIT, Param("skip", "How many to pass over", whole_number=True)), answer=shapes.History, errors=(404, 409),
    ),
    Operation("GET", "/v1/proof", "A version's entry with its inclusion proof", READ, v1.proof, (_AGENT, _KEY, _VERSION), answer=shapes.Proof, errors=(404, 409)),
    Operation("GET", "/v1/checkpoint", "The signed head, verified by this server (C2SP tlog-checkpoint)", READ, log.checkpoint, (_AGENT,), errors=(404, 409)),
    Operation(
        "GET", "/v1/consistency", "Proof that the log continues an older one", READ, log.consistency,
        (_AGENT, Param("old", "Its size then: 1 or more", required=True, whole_number=True)), answer=shapes.Consistency, errors=(409,),
    ),
    Operation("GET", "/v1/head", "The head as stored", READ, log.head, (_AGENT,), answer=shapes.Head, whole=True),
    Operation(
        "GET", "/v1/entries", "Leaves as stored", READ, log.entries,
        (_AGENT, Param("start", "The first one", whole_number=True), Param("end", "One past the last one", whole_number=True)),
        answer=shapes.Entries, whole=True,
    ),
    Operation(
        "GET", "/v1/sealed", "Versions as stored, by entry", READ, log.sealed,
        (_AGENT, Param("seq", "The entry", required=True, whole_number=True), Param("count", "How many entries from there on: 1 to 256", whole_number=True)),
        answer=shapes.SealedRows, whole=True,
    ),
    Operation(
        "GET", "/v1/operation", "Where an operation stands in the log", READ, log.operation, (_AGENT, Param("op", "The operation id", required=True)),
        answer=shapes.Operation, whole=True,
    ),
    Operation(
        "GET", "/v1/tile/{level}/{n}", "A full tile of 256 hashes (C2SP tlog-tiles)", READ, log.tile,
        (_AGENT, _LEVEL, _N),
        answer="application/octet-stream", errors=(404,),
    ),
    Operation("GET", "/v1/keys", "Whose signatures count", READ, log.keys, (_AGENT,), answer=shapes.Keys),
    Operation("POST", "/v1/keys", "Enrol the agent's verifier key, the first time", WRITE, log.enrol, (_AGENT,), shapes.Enrol, shapes.Keys, whole=True, errors=(409,)),
    Operation("POST", "/v1/commit", "Add a transaction that the agent signed", WRITE, log.commit, (_AGENT,), shapes.Commit, shapes.Committed, whole=True, errors=(409, 413, 422)),
    Operation("GET", "/v1/audit", "An independent second reading of the log", READ, auditing.audit, (_AGENT,), answer=shapes.Audited, whole=True, errors=(409,)),
)
"""Every one of them needs an API key."""
