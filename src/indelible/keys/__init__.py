"""The keys that this account holds, and the public keys that it trusts for others."""

from indelible.keys.keystore import PROTECTED_ROLES, ROLES, Keystore
from indelible.keys.keytext import Passphrase

__all__ = ["PROTECTED_ROLES", "ROLES", "Keystore", "Passphrase"]
