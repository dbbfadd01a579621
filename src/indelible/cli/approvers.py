"""Whose key approves: never an agent's, and always one that is kept under a passphrase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indelible.errors import NotFoundError

if TYPE_CHECKING:
    from indelible.seal.note import Signer
    from indelible.settings import Settings


def require_approver(settings: Settings, name: str | None) -> str:
    """The name of the key that would sign: looked up before anything is shown or asked.

    Raises:
        NotFoundError: there is none. UsageError: there are several.
    """
    from indelible import wiring
    from indelible.library import role_key

    keys = wiring.keystore(settings)
    chosen = role_key(keys, wiring.APPROVER, name)
    try:
        keys.is_protected(chosen)
    except NotFoundError as error:
        raise NotFoundError(
            f"The private key of the approver {name!r} is not here",
            remedy="Approve on the machine that has it, or bring it with 'indelible key recover FILE'",
        ) from error
    return chosen


def approver_of(settings: Settings, name: str | None) -> Signer:
    """The approver's key of that name, or the only one here; its passphrase is asked for, and then the one-time code if it has one.

    Raises:
        NotFoundError: there is none. UsageError: there are several. AccessDenied: the passphrase is missing or wrong.
        WrongCode: the one-time code is.
    """
    from indelible import wiring
    from indelible.cli.onetime import require_code
    from indelible.cli.trusting import passphrase_of

    keys, chosen = wiring.keystore(settings), require_approver(settings, name)
    typed = passphrase_of(settings, name=chosen)
    signer = keys.signer(chosen, lambda _name: typed)
    require_code(keys, chosen, typed)
    return signer
