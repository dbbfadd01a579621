"""What every step of the workflow needs at once: the state directory with its memory, the workflow in force, the change, who approves."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from indelible import wiring
from indelible.errors import NotFoundError
from indelible.settings import here
from indelible.settings.repository import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from indelible.keeping.directory import StateDirectory
    from indelible.memory import Memory
    from indelible.seal.note import Verifier
    from indelible.settings import Settings
    from indelible.workflow.change import Opened
    from indelible.workflow.graph import Target, Workflow


class Desk:
    """One checkout, one agent. The workflow, the approvers and the name are read once; change and inputs anew each time.

    Args:
        state: the slots, with their memory.
        environ: the environment, for git.
    """

    def __init__(self, settings: Settings, state: StateDirectory, environ: Mapping[str, str]) -> None:
        self.settings, self.state, self.environ = settings, state, environ

    @property
    def memory(self) -> Memory:
        """The log in which it all stands."""
        return self.state.memory

    @property
    def top(self) -> str:
        """The checkout.

        Raises:
            NotFoundError: this is in no repository.
        """
        if self.settings.checkout is None:
            raise NotFoundError(
                "There is no repository here, and so no change of its files",
                remedy="Go into the checkout that is worked in",
            )
        return self.settings.checkout

    @cached_property
    def approvers(self) -> tuple[Verifier, ...]:
        """Whose receipts count on this machine."""
        return wiring.approvers(self.settings)

    @cached_property
    def workflow(self) -> Workflow:
        """What is in force.

        Raises:
            IntegrityError: the settings file of the workflow is not what the owner sealed.
        """
        from indelible.stepping.inforce import workflow_in_force

        return workflow_in_force(self.memory, self.settings)

    @cached_property
    def repository(self) -> str:
        """The name of this repository, the same in all of its clones; empty where it has none that can be told."""
        from indelible.gate.place import GitPlace

        place = GitPlace(self.top, self.environ)
        return place.repo or place.root or ""

    def opened(self) -> AbstractContextManager[Opened]:
        """The change of the working tree as it is now, as a context that ends its temporary objects.

        Raises:
            IndelibleError: it cannot be told whole.
        """
        from indelible.workflow.change import open_change

        return open_change(self.top, self.environ)

    def inputs(self, target: Target) -> dict[str, str]:
        """Name and SHA-256 of everything that a target reads besides the change; what is not there is left out."""
        return self.digests([name for name in target.inputs if name != "change"])

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Name and SHA-256 of inputs or outputs, as they are now; what is not there is left out."""
        from indelible.stepping.facts import digests

        return digests(self, names)


def _refuse_inside_of_git(settings: Settings) -> None:
    """Git's own folder is no place to look at a change from: git says so too."""
    folder = here()[0]
    if settings.checkout is not None and within(os.path.join(settings.checkout, ".git"), folder):
        raise NotFoundError(f"{folder} is the inside of a git directory", remedy="Go into the working tree")


@contextmanager
def open_desk(settings: Settings, environ: Mapping[str, str], *, door: str = "flow") -> Iterator[Desk]:
    """The desk of this folder.

    Raises:
        NotFoundError: there is no store, or no state directory. IntegrityError: the log is not what was sealed.
    """
    _refuse_inside_of_git(settings)
    with wiring.open_state(settings, door=door) as state:
        yield Desk(settings, state, environ)
