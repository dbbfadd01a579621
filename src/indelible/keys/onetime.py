"""One-time codes beside a passphrase (RFC 6238): a key's secret for them, sealed under the same passphrase, and the last code used.

    {"sealed":"<base64>","step":58882410}      beside the key, as NAME.totp, 0600

A code counts in its own half minute and in the ones before and after it, and once: the last step that counted is kept, and
none up to it counts again. What this stops is a passphrase that was seen while it was typed; whoever has the file as well as
the passphrase has the secret too (docs/threat-model.md).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, UsageError
from indelible.files import replace_file
from indelible.keys import files
from indelible.keys.names import file_stem
from indelible.keys.sealedkey import decrypt, encrypt
from indelible.seal.note import from_base64, to_base64

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

DIGITS, SECONDS, SECRET = 6, 30, 20
NEAR = 1
"""Half minutes by which the clocks of the two machines may differ."""
_CONTEXT = b"indelible/totp/v1\n"


class WrongCode(IndelibleError):
    """A one-time code that is wrong, too old, or was used before."""

    slug = "wrong-code"
    exit_code = 2
    http_status = 403
    remedy = "Wait for the next code and type that; if all are refused, compare the clocks"


class OneTime(NamedTuple):
    """The file beside a key."""

    path: str
    sealed: bytes
    step: int
    """The last half minute since 1970 whose code was used."""


def path_of(folder: str, name: str) -> str:
    """Where the secret of the key `name` lies in a key folder."""
    return os.path.join(folder, f"{file_stem(name)}.totp")


def enrol(folder: str, name: str, passphrase: str) -> str:
    """Make a secret for a key, in the place of one that there may be; gives the address (otpauth://) that an app takes in.

    Raises:
        NotSaved: it could not be written.
    """
    secret = os.urandom(SECRET)
    _write(OneTime(path_of(folder, name), encrypt(passphrase, secret, _context(name)), 0))
    return _totp(secret).get_provisioning_uri(name.rpartition("/")[2], "Indelible")


def read(folder: str, name: str) -> OneTime | None:
    """What lies beside a key; None where no code is asked for.

    Raises:
        UsageError: it is not as it was written, and so a code that is wanted could not be asked for.
    """
    path = path_of(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            members = json.load(file)
        return OneTime(path, from_base64(members["sealed"]), int(members["step"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, IndelibleError) as exc:
        raise UsageError(
            f"{path} is no secret for one-time codes", remedy="'indelible key totp' makes a new one", file=path
        ) from exc


def use(folder: str, name: str, passphrase: str, code: str, at: int) -> None:
    """Take a code, once.

    Args:
        at: seconds since 1970.

    Raises:
        WrongCode: it is another one, or was used before. AccessDenied: the passphrase is wrong.
    """
    with files.locked(folder):
        found = read(folder, name)
        if found is None:
            return
        totp = _totp(decrypt(passphrase, found.sealed, _context(name)))
        now = at // SECONDS
        steps = [step for step in range(now - NEAR, now + NEAR + 1) if step > found.step]
        step = next((step for step in steps if _is_code(totp, code, step)), None)
        if step is None:
            raise WrongCode("The one-time code is wrong, too old, or was used before")
        _write(found._replace(step=step))


def _is_code(totp: TOTP, code: str, step: int) -> bool:
    from indelible.light import compare_digest

    given = "".join(code.split()).encode("ascii", "replace")
    return compare_digest(totp.generate(step * SECONDS), given)


def _totp(secret: bytes) -> TOTP:
    from cryptography.hazmat.primitives.hashes import SHA1
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

    return TOTP(secret, DIGITS, SHA1(), SECONDS)  # noqa: S303 - RFC 6238's own, and what every app takes


def _context(name: str) -> bytes:
    return _CONTEXT + name.encode()


def _write(found: OneTime) -> None:
    members = {"sealed": to_base64(found.sealed), "step": found.step}
    replace_file(found.path, json.dumps(members, sort_keys=True, separators=(",", ":")).encode())
