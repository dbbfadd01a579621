"""A yes from another machine: what is asked for is sealed with the objects of the change, and looked at in a clone over there.

    flow/ask/NAMESPACE/TARGET
    {"base":…,"branch":…,"diff":…,"format":…,"inputs":{…},"pack":"<base64>","parents":[…],"repository":…,"target":…,"tree":…,"v":1,"workflow":…}

The pack holds what the approver's clone does not have yet: from it and the base the change is made anew there, and rendered
there, so that nobody reads what the asker says that it is. The base has to be known in both places.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, Any, NamedTuple

from indelible.errors import Malformed, NotFoundError, UsageError
from indelible.seal import canonical

if TYPE_CHECKING:
    from indelible.memory import Memory
    from indelible.memory.results import Saved
    from indelible.stepping.approving import Shown
    from indelible.stepping.desk import Desk

ASK = "flow/ask/"
FORMAT = 1
LARGEST = 8_000_000
"""Bytes of a pack: a larger change is pushed to a branch for review, and approved in a clone that has it."""
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

    def format_json(self) -> bytes:
        """Canonical JSON; `parse_asked` is the inverse."""
        members = self._asdict() | {"v": FORMAT, "parents": list(self.parents), "inputs": dict(self.inputs)}
        return canonical.dumps(members | {"pack": b64encode(self.pack).decode()})


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
        shown.diff, shown.inputs, pack,
    )  # fmt: skip
    return desk.memory.record(
        key_of(desk.state.namespace, shown.target.name), asked.format_json(), "stamped", digest=change.tree
    )


def asked_for(memory: Memory, namespace: str, target: str) -> Asked:
    """The request for a target.

    Raises:
        NotFoundError: there is none. IntegrityError: it is not what was sealed.
    """
    try:
        loaded = memory.fetch(key_of(namespace, target))
    except NotFoundError as error:
        raise NotFoundError(
            f"Nobody asked for {target} here", remedy="Where the change is: 'indelible approve --ask'"
        ) from error
    if loaded.finding is not None:
        raise loaded.finding
    return parse_asked(loaded.content)


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
        asked = Asked(pack=pack, parents=tuple(map(str, members["parents"])), inputs=inputs, **texts)
        fits = asked.format_json() == content
    except (UsageError, KeyError, ValueError, TypeError, AttributeError, Base64Error) as exc:
        raise Malformed("A request for an approval is not in its form") from exc
    if not fits:
        raise Malformed("A request for an approval is not in its form")
    return asked
