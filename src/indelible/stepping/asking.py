"""A yes from another machine: what is asked for is sealed with the objects of the change, and looked at in a clone over there.

    flow/ask/NAMESPACE/TARGET
    {"base":…,"branch":…,"diff":…,"format":…,"inputs":{…},"pack":"<base64>","parents":[…],"repository":…,"target":…,"texts":{…},"tree":…,"v":1,"workflow":…}

The pack holds what the approver's clone does not have yet: from it and the base the change is made anew there, and rendered
there, so that nobody reads what the asker says that it is. The base has to be known in both places.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.errors import ConflictError, Malformed, NotFoundError, UsageError
from indelible.seal import canonical
from indelible.workflow.change import Change
from indelible.workflow.receipt import Receipt

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.memory.results import Saved
    from indelible.stepping.approving import Shown
    from indelible.stepping.desk import Desk

ASK = "flow/ask/"
FORMAT = 1
LARGEST = 8_000_000
"""Bytes of a pack: a larger change is pushed to a branch for review, and approved in a clone that has it."""
_SOME_TIME = "2000-01-01T00:00:00Z"
_TEXTS = ("base", "branch", "diff", "format", "pack", "repository", "target", "tree", "workflow")


class Asked(NamedTuple):
    """A request, as it was sealed."""

    target: str
    format: str
    base: str
    tree: str
    parents: tuple[str, ...]
    branch: str
    repository: str
    workflow: str
    diff: str
    inputs: tuple[tuple[str, str], ...]
    pack: bytes
    texts: tuple[tuple[str, bytes], ...] = ()
    """Name and content of inputs; each has the digest that is bound."""

    @property
    def change(self) -> Change:
        """What it names; its files are for whoever unpacks it to see."""
        return Change(self.format, self.base, self.tree, self.parents, self.branch)

    def as_receipt(self, issued: str, expires: str, nonce: str) -> Receipt:
        """The receipt that says yes to it."""
        return Receipt(
            self.target, self.format, self.base, self.tree, self.parents, self.branch, self.repository, self.workflow, self.diff,
            self.inputs, issued, expires, nonce,
        )  # fmt: skip

    def format_json(self) -> bytes:
        """Canonical JSON; `parse_asked` is the inverse."""
        members = self._asdict() | {"v": FORMAT, "parents": list(self.parents), "inputs": dict(self.inputs)}
        texts = {name: b64encode(text).decode() for name, text in self.texts}
        return canonical.dumps(members | {"pack": b64encode(self.pack).decode(), "texts": texts})


def key_of(namespace: str, target: str) -> str:
    """Where a request is sealed: one for each target of a state directory, the last one counts."""
    return f"{ASK}{namespace}/{target}"


def ask(desk: Desk, shown: Shown, pack: bytes) -> Saved:
    """Seal what a person is asked to approve elsewhere.

    Raises:
        UsageError: the change is too large for that.
    """
    if len(pack) > LARGEST:
        raise UsageError(
            f"The change takes {len(pack):,} bytes, and a request carries at most {LARGEST:,}",
            remedy="Push it to a branch for review, and have it approved in a clone that has it",
        )
    change = shown.change
    asked = Asked(
        shown.target.name, change.format, change.base, change.tree, change.parents, change.branch, shown.repository, shown.workflow,
        shown.diff, shown.inputs, pack, tuple(pair for pair in shown.texts if sha256(pair[1]).hexdigest() == dict(shown.inputs)[pair[0]]),
    )  # fmt: skip
    return desk.memory.record(
        key_of(desk.state.namespace, shown.target.name), asked.format_json(), "stamped", digest=change.tree
    )


def newest(memory: Memory, target: str | None) -> Asked:
    """The last request for a target, in whichever state directory of this agent; without a target, the last one of all.

    Raises:
        NotFoundError: there is none. IntegrityError: one is not what was sealed.
    """
    return newest_with_namespace(memory, target)[1]


def newest_with_namespace(memory: Memory, target: str | None) -> tuple[str, Asked]:
    """As `newest`, with the namespace of its state directory before it."""
    listing = memory.list(prefix=ASK)
    if listing.findings:
        raise listing.findings[0]
    keys = [one.key for one in listing.items if target is None or one.key.endswith(f"/{target}")]
    found = sorted((memory.fetch(key) for key in keys), key=lambda one: one.seq)
    if not found:
        raise NotFoundError(
            f"Nobody asked for {target or 'an approval'} here", remedy="Where the change is: 'indelible approve --ask'"
        )
    return found[-1].key.removeprefix(ASK).rpartition("/")[0], parse_asked(found[-1].content)


def refuse_stale(memory: Memory, asked: Asked) -> None:
    """Raise where a slot that a request is bound to is not in the agent's log any more as it was asked about.

    Raises:
        ConflictError: naming it.
    """
    namespace = newest_with_namespace(memory, asked.target)[0]
    there = {one.loaded.sha256 for one in memory.slots(namespace)}
    for name, digest in asked.inputs:
        if name.startswith("slot:") and digest not in there:
            raise ConflictError(f"{name} changed since it was asked for", remedy="Have it asked for again", slot=name)


def parse_asked(content: bytes) -> Asked:
    """The exact inverse of `Asked.format_json`.

    Raises:
        Malformed: it is no request.
    """
    try:
        members: Any = canonical.loads(content)
        texts = {name: str(members[name]) for name in _TEXTS}
        pack = b64decode(texts.pop("pack"), validate=True)
        inputs = tuple(sorted((name, str(digest)) for name, digest in members["inputs"].items()))
        said = tuple(sorted((name, b64decode(text, validate=True)) for name, text in members["texts"].items()))
        asked = Asked(pack=pack, parents=tuple(map(str, members["parents"])), inputs=inputs, texts=said, **texts)
        asked.as_receipt(
            _SOME_TIME, _SOME_TIME, "0" * 32
        ).format_text()  # every member in the form that it is signed in
        fits = asked.format_json() == content and all(
            sha256(text).hexdigest() == dict(inputs)[name] for name, text in said
        )
    except (UsageError, KeyError, ValueError, TypeError, AttributeError, Base64Error) as exc:
        raise Malformed("A request for an approval is not in its form") from exc
    if not fits:
        raise Malformed("A request for an approval is not in its form")
    return asked
