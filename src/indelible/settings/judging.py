"""By what memory is judged here: the policy, what is done about secrets, and what is known of the place that no folder tells.

    INDELIBLE_POLICY  INDELIBLE_GLOBAL  INDELIBLE_SECRETS  INDELIBLE_READER
    INDELIBLE_ORG  INDELIBLE_USER  INDELIBLE_PROJECT  INDELIBLE_SESSION  INDELIBLE_APPROVERS

The settings file comes with a clone. What would let everything through (the unsafe policy, secrets as they are) can
be said by whoever starts the program, and not by it.
"""

from __future__ import annotations

from indelible.errors import UsageError
from indelible.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indelible.settings.repository import Config

DEFAULT_POLICY = "anchored"
SECRETS = ("refuse", "mask", "allow")
FACTS = {
    "org": "INDELIBLE_ORG",
    "user": "INDELIBLE_USER",
    "project": "INDELIBLE_PROJECT",
    "session": "INDELIBLE_SESSION",
}
_UNSAFE = ("unsafe", "lifecycle")
"""What policies that pass almost everything have in their names."""


def policy_of(config: Config, environ: Mapping[str, str]) -> str:
    """The name of the policy; whether there is such a one is for the gate to say.

    Raises:
        UsageError: the settings file names an unsafe one.
    """
    named = config.text("policy")
    if named and any(word in named.lower() for word in _UNSAFE):
        raise UsageError(
            f"{config.path}: 'policy' is one that lets almost everything through, and a settings file comes with a clone",
            remedy="Take it out there; who means it says --policy, or INDELIBLE_POLICY",
            file=config.path,
        )
    return environ.get("INDELIBLE_POLICY") or named or DEFAULT_POLICY


def secrets_of(config: Config, environ: Mapping[str, str]) -> str:
    """What happens to a text with a secret in it: `refuse`, `mask` or `allow`.

    Raises:
        UsageError: another word; or `allow` in the settings file.
    """
    named, said = config.text("secrets"), environ.get("INDELIBLE_SECRETS")
    for where, word in ((f"{config.path}: 'secrets'", named), ("INDELIBLE_SECRETS", said)):
        if word and word not in SECRETS:
            raise UsageError(f"{where} is none of {', '.join(SECRETS)}", remedy="Use refuse or mask")
    if named == "allow":
        raise UsageError(
            f"{config.path}: 'secrets' is allow, which a settings file may not say: only the environment may",
            remedy="Use refuse or mask there; who means it sets INDELIBLE_SECRETS=allow",
            file=config.path,
        )
    return said or named or SECRETS[0]


def facts_of(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """Organisation, user, project and session, as far as they are stated.

    Raises:
        UsageError: the table [here] states something else; a variable is not UTF-8 text.
    """
    table = config.table("here")
    for name in table:
        if name not in FACTS:
            raise UsageError(
                f"{config.path}: [here] has no '{name}'", remedy=f"It has {', '.join(FACTS)}", file=config.path
            )
    found = {name: environ.get(variable) or table.get(name, "") for name, variable in FACTS.items()}
    for name, text in found.items():
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UsageError(f"{FACTS[name]} is not UTF-8 text")
    return {name: text for name, text in found.items() if text}


def approvers_file(environ: Mapping[str, str]) -> str:
    """The file that INDELIBLE_APPROVERS names: whose receipts count where the machine trusts nobody, as in CI. Empty for none."""
    return environ.get("INDELIBLE_APPROVERS", "")
