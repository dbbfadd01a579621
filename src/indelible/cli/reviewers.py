"""Which reviewer signs, and whether the agent's own key is here to sign the head after it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

import click

from indelible.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indelible.keys import Keystore
    from indelible.memory import Memory
    from indelible.seal.note import Signer
    from indelible.settings import Settings

APPROVE = "indelible review approve "


def _complete_held(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Reviewers whose keys are here, for the shell."""
    from indelible.library import held_reviewers

    return _completed(ctx, incomplete, held_reviewers)


def complete_known(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Reviewers whom this machine holds or trusts a key of, for the shell."""
    return _completed(ctx, incomplete, lambda keys: sorted({*keys.names(), *keys.trusted_names()}))


def _completed(ctx: click.Context, incomplete: str, names: Callable[[Keystore], list[str]]) -> list[str]:
    """Names of reviewers that begin so, and none rather than an error."""
    from indelible import settings, wiring
    from indelible.errors import IndelibleError
    from indelible.memory.standing import name_of

    chosen = ctx.find_root().params
    try:
        found = names(wiring.keystore(settings.load(store=chosen.get("store"), agent=chosen.get("agent"))))
    except IndelibleError:
        return []
    reviewers = [name_of(name) for name in found if name.startswith(wiring.REVIEWER)]
    return [name for name in reviewers if name.startswith(incomplete) and name.isprintable()]


as_option = click.option(
    "--as",
    "reviewer",
    metavar="NAME",
    shell_complete=_complete_held,
    help="Whose reviewer's key signs. [the only one here]",
)


def with_signer(settings: Settings, command: str, assigned: str = "") -> str:
    """A command that approves, with the reviewer who is to sign where several have their keys here; any other as it is.

    Args:
        assigned: who is to review the memory, and signs where that key is here.
    """
    from indelible import wiring
    from indelible.library import held_reviewers
    from indelible.memory.standing import name_of

    if not command.startswith(APPROVE) or command.startswith(f"{APPROVE}--as "):
        return command
    names = [name_of(name) for name in held_reviewers(wiring.keystore(settings))]
    if len(names) < 2:
        return command
    chosen = assigned if assigned in names else names[0]
    return f"{APPROVE}--as {shlex.quote(chosen)} {command.removeprefix(APPROVE)}"


class Judge(NamedTuple):
    """Who judges."""

    signer: Signer
    method: str
    """`human` where the key is kept under a passphrase, else `process`."""

    @property
    def name(self) -> str:
        """The reviewer's name, or the agent's log where it is the agent."""
        from indelible.memory.standing import name_of

        return name_of(self.signer.name)


def reviewer_of(settings: Settings, name: str | None) -> Judge:
    """The reviewer's key of that name, or the only one here; its passphrase is asked for.

    Raises:
        NotFoundError: there is none. UsageError: there are several. AccessDenied: the passphrase is missing or wrong.
    """
    from indelible import wiring
    from indelible.cli.trusting import passphrase_of
    from indelible.library import none_here, reviewer_key

    keys = wiring.keystore(settings)
    chosen = reviewer_key(keys, name)
    try:
        method = "human" if keys.is_protected(chosen) else "process"
    except NotFoundError as error:
        raise none_here(f"The key of the reviewer {name!r} is not here") from error
    return Judge(keys.signer(chosen, lambda of: passphrase_of(settings, name=of)), method)


def reviewer_or_agent(settings: Settings, memory: Memory, name: str | None) -> Judge:
    """A reviewer's key where one is here, else the agent's own, whose word is only shown."""
    from indelible import wiring
    from indelible.library import held_reviewers

    if name is None and not held_reviewers(wiring.keystore(settings)):
        return Judge(memory.signer, "process")
    return reviewer_of(settings, name)


def require_head_signer(memory: Memory) -> None:
    """Say in time that nothing can be added to the log from here.

    Raises:
        NotFoundError: the agent's key is not here.
    """
    try:
        memory.signer  # noqa: B018 - asked for what it raises
    except NotFoundError as error:
        raise NotFoundError(
            f"A review is added to the log of {memory.agent!r}, whose head that agent's own key signs, and it is not here",
            remedy="Review on the machine where the agent saves, or bring its key with INDELIBLE_KEY_FILE or 'indelible key recover FILE'",
        ) from error
