"""Which workflow is in force: the one that the owner sealed, and else the one that is built in.

The sealed text and the file beside the settings file have to be the same bytes. A file that was never sealed came with a
clone, and is a stranger's word.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import ConflictError, IntegrityError, NotFoundError, StoreError, UsageError
from indelible.files import create_file, make_folder, move, replace_file
from indelible.memory.bound import WORKFLOW
from indelible.settings.repository import bytes_beside
from indelible.workflow.default import DEFAULT
from indelible.workflow.parsing import MOST_BYTES, NAME, default_workflow, parse_workflow

if TYPE_CHECKING:
    from indelible.errors import IndelibleError
    from indelible.memory import Memory
    from indelible.memory.results import Loaded, Saved
    from indelible.seal.note import Signer
    from indelible.settings import Settings
    from indelible.workflow.graph import Workflow

STRANGER = (
    "{path} was never sealed, so it is a stranger's word and not in force: the workflow is the one that is built in. "
    "Read it; the owner puts it in force with 'indelible flow seal'"
)
_ASIDE = ".aside-"
REMEDY = "If the owner meant it: 'indelible flow seal --reason TEXT'; else 'indelible flow restore' puts the sealed text back"


class WorkflowAltered(IntegrityError):
    """The workflow file is not what the owner sealed: what may happen next is not decided by it."""

    slug = "workflow-altered"
    remedy = REMEDY


class Restored(NamedTuple):
    """What `restore` did."""

    path: str
    aside: str
    """Where what stood there was put; empty where nothing was, or it was the same."""


def workflow_in_force(memory: Memory, settings: Settings) -> Workflow:
    """The workflow that holds here.

    Raises:
        WorkflowAltered: the file is not what was sealed, gone, or no file; or no owner who is known here stands behind what is sealed.
        IntegrityError: the log is not what was sealed. UsageError, GraphWrong: the sealed text is of a newer version.
    """
    sealed = sealed_text(memory)
    try:
        path, there = _file(settings)
    except (StoreError, UsageError) as error:
        if sealed is None:
            raise
        raise WorkflowAltered(error.message) from error
    if sealed is None:
        warning = STRANGER.format(path=path) if there is not None and there != DEFAULT.encode() else ""
        return default_workflow()._replace(warning=warning)
    if there is None:
        raise WorkflowAltered(f"{path} is gone, and a workflow was sealed (sha256:{sealed.sha256})", file=path)
    if there != sealed.content:
        raise WorkflowAltered(f"{path} is not the workflow that the owner sealed (sha256:{sealed.sha256})", file=path)
    return parse_workflow(sealed.content, path, sealed=True)


def sealed_text(memory: Memory) -> Loaded | None:
    """The sealed workflow, by an owner who is known here; None where none was ever sealed.

    Raises:
        WorkflowAltered: no such owner stands behind it, or it was put away.
    """
    try:
        loaded = memory.fetch(WORKFLOW)
    except NotFoundError:
        if _was_sealed(memory):
            raise WorkflowAltered(
                "The sealed workflow was erased past this program",
                remedy="The owner seals it again: 'indelible flow seal'",
            ) from None
        return None
    if loaded.latest.state != "active" or not memory.is_owned(WORKFLOW):
        raise WorkflowAltered(
            f"No owner who is known here stands behind the sealed workflow (sha256:{loaded.sha256})",
            remedy="If you know the owner's key: 'indelible key trust VKEY'; else the owner looks at the file and seals it: 'indelible flow seal'",
        )  # fmt: skip
    return loaded


def _was_sealed(memory: Memory) -> bool:
    with memory.following() as (table, _, _):
        return table.get(WORKFLOW) is not None


def _file(settings: Settings) -> tuple[str, bytes | None]:
    return bytes_beside(settings.repository_top, settings.checkout, NAME, MOST_BYTES)


def seal_workflow(memory: Memory, settings: Settings, by: Signer, reason: str) -> Saved:
    """Put the file as it is now in force, in the owner's name.

    Raises:
        UsageError: it cannot be understood. GraphWrong: how its targets stand to one another cannot hold.
        NotFoundError: there is none. BadSignature: that is no owner's key.
    """
    there = refuse_broken(settings)
    return memory.amend(WORKFLOW, there, by=by, reason=reason)


def is_sealed(memory: Memory, settings: Settings) -> bool:
    """Whether the file is what is sealed, by an owner who is known here: then there is nothing to seal."""
    try:
        sealed = sealed_text(memory)
    except WorkflowAltered:
        return False
    return sealed is not None and sealed.content == _file(settings)[1]


def write_default(settings: Settings) -> str:
    """Write the workflow that is built in as a file to edit; gives its path.

    Raises:
        ConflictError: there is a file. UsageError: this is in no repository.
    """
    path, there = _file(settings)
    if not path:
        raise UsageError("A workflow file belongs to a repository, and this folder is in none", remedy="Go into one")
    if there is not None and there != DEFAULT.encode():
        raise ConflictError(
            f"There is a workflow file already: {path}", remedy="'indelible flow seal' seals it as it is"
        )
    make_folder(os.path.dirname(path))
    create_file(path, DEFAULT.encode(), mode=0o644)
    return path


def restore_workflow(memory: Memory, settings: Settings) -> Restored:
    """Put the sealed text back, and keep what stood in its place aside.

    Raises:
        NotFoundError: none was sealed. WorkflowAltered: as `sealed_text`.
    """
    sealed = sealed_text(memory)
    if sealed is None:
        raise NotFoundError("No workflow was ever sealed here", remedy="'indelible flow init' writes one and seals it")
    stamp = memory.now().replace("-", "").replace(":", "")
    try:
        path, there = _file(settings)
    except (StoreError, UsageError) as error:
        path, there = _moved_away(error, stamp), None
        replace_file(path, sealed.content, mode=0o644)
        return Restored(path, f"{path}{_ASIDE}{stamp}")
    if there == sealed.content:
        return Restored(path, "")
    aside = ""
    if there is not None:
        aside = f"{path}{_ASIDE}{stamp}"
        create_file(aside, there)
    make_folder(os.path.dirname(path))
    replace_file(path, sealed.content, mode=0o644)
    return Restored(path, aside)


def _moved_away(error: IndelibleError, stamp: str) -> str:
    """Put what stands in the file's place and is no file aside; gives the place. Of a folder above it that is a link, it raises."""
    path = str(error.facts.get("path") or error.facts.get("file") or "")
    if os.path.basename(path) != NAME:
        raise error
    move(path, f"{path}{_ASIDE}{stamp}")
    return path


def refuse_broken(settings: Settings) -> bytes:
    """The bytes of the file. Raise where there is no file, or it cannot be understood: before anybody is asked for a passphrase.

    Raises:
        NotFoundError, UsageError, GraphWrong: as `seal_workflow`.
    """
    path, there = _file(settings)
    if there is None:
        raise NotFoundError(f"There is no workflow file at {path or NAME}", remedy="'indelible flow init' writes one")
    parse_workflow(there, path)
    return there


def text_in_force(memory: Memory, settings: Settings) -> tuple[bytes, bool]:
    """The text of the workflow that holds here, and whether the owner sealed it.

    Raises:
        WorkflowAltered: as `workflow_in_force`.
    """
    workflow = workflow_in_force(memory, settings)
    sealed = sealed_text(memory) if workflow.sealed else None
    return (sealed.content, True) if sealed is not None else (DEFAULT.encode(), False)
