"""What the text of a private key's file says: a bare skey, or a key sealed under a passphrase.

Whatever is wrong is told with the file's name and the remedy, and never with a part
of the text: a damaged key is still a key.
"""

from __future__ import annotations

from collections.abc import Callable

from indelible.errors import AccessDenied, UsageError
from indelible.seal.note import Signer, Verifier

Passphrase = Callable[[str], str]
"""Asks for the passphrase of the key of that name; never called under a lock."""

RECOVER = "Recover it from its backup: indelible key recover"

_SAY_IT = "Use a terminal, or set INDELIBLE_PASSPHRASE_FILE"


def is_sealed(text: str) -> bool:
    """Whether the key needs a passphrase."""
    return text.startswith("{")


def name_in(text: str, path: str) -> str:
    """Whose key it says it is: cheap, and no proof."""
    try:
        if is_sealed(text):
            from indelible.keys.sealedkey import parse

            return parse(text).name
        return Signer.from_skey(text).name
    except UsageError as exc:
        raise _damaged(path, exc.remedy) from None


def public_half(text: str, path: str) -> Verifier:
    """The public key that belongs to it; of a sealed key, the one that its file names."""
    if is_sealed(text):
        from indelible.keys.sealedkey import parse

        return Verifier(parse(text).vkey)
    return Verifier(open_key(text, path, None).vkey)


def open_key(text: str, path: str, passphrase: Passphrase | None) -> Signer:
    """The key itself.

    Raises:
        UsageError: there is none in it.
        AccessDenied: it needs a passphrase, or another one.
    """
    try:
        if not is_sealed(text):
            signer = Signer.from_skey(text)
            signer.public  # noqa: B018 - the key id is checked at the first use, and here the file is known
            return signer
    except UsageError as exc:
        raise _damaged(path, exc.remedy) from None
    from indelible.keys.sealedkey import parse

    sealed = parse(text)
    if passphrase is None:
        raise AccessDenied(f"The key of {sealed.name} needs its passphrase", remedy=_SAY_IT, name=sealed.name)
    return sealed.open(passphrase(sealed.name))


def seal_key(signer: Signer, passphrase: Passphrase | None) -> str:
    """The text of a key that is kept under a passphrase."""
    from indelible.keys.sealedkey import seal

    if passphrase is None:
        raise UsageError(f"The key of {signer.name} is kept under a passphrase, and there is none", remedy=_SAY_IT)
    return seal(signer, passphrase(signer.name)).format()


def asked_once(passphrase: Passphrase | None) -> Passphrase | None:
    """The same answer for the same key, so that a person types it once."""
    if passphrase is None:
        return None
    answers: dict[str, str] = {}

    def ask(name: str) -> str:
        if name not in answers:
            answers[name] = passphrase(name)
        return answers[name]

    return ask


def _damaged(path: str, remedy: str) -> UsageError:
    return UsageError(f"The key file {path} does not hold a private key", remedy=remedy or RECOVER, file=path)
