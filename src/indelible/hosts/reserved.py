"""What is a person's to do, by the text of a command: verbs that make trust or take a guard away, and variables that do.

A text match: a name that a program puts together, an alias or a script passes it. See docs/threat-model.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.hosts.words import Word

VERBS = (
    ("state", "amend"), ("key", "create"), ("key", "trust"), ("key", "rotate"), ("key", "revoke"), ("key", "recover"),
    ("pin", "set"), ("restore-store",), ("hooks", "install"), ("hooks", "uninstall"), ("state", "protect", "--off"),
    ("init", "--anew"), ("review", "approve"), ("review", "reject"), ("approve",), ("reject",), ("flow", "init"), ("flow", "seal"),
    ("flow", "resolve"), ("scar", "retire"), ("scar", "waive"),
)  # fmt: skip
"""Each with the options that make it one."""
REPAIR = ("state", "repair")
"""A person's only while something was found altered: until then it finishes what a crash left."""
VARIABLES = ("INDELIBLE_BRIEFING_FIRST", "INDELIBLE_HOOK_DEPTH", "INDELIBLE_PASSPHRASE_FILE", "INDELIBLE_SECRETS=allow",
             "INDELIBLE_POLICY=unsafe", "INDELIBLE_APPROVERS", "INDELIBLE_FORK", "INDELIBLE_INSIDE", "INDELIBLE_HEAVY=allow")  # fmt: skip
"""That switch a guard off, or speak with the owner's key; of some only the value that does."""
ASK = "that is your human's to do: ask for it"
_VALUED = ("--agent", "--store")


def verb_in(words: tuple[Word, ...], *, altered: bool) -> str:
    """The person's verb among the words of a command that does not only read; empty where there is none."""
    for index, word in enumerate(words):
        if word.text.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".exe").lower() == "indelible":
            given = [one.text for one in words[index + 1 :]]
            for verb in (*VERBS, *((REPAIR,) if altered else ())):
                if _is_said(verb, given):
                    return " ".join(("indelible", *verb))
    return ""


def variable_in(texts: tuple[str, ...]) -> str:
    """The first assignment among these texts that a person alone makes; empty where none is."""
    for text in texts:
        for name in VARIABLES:
            if text.startswith(name if "=" in name else f"{name}="):
                return name.partition("=")[0]
    return ""


def _is_said(verb: tuple[str, ...], given: list[str]) -> bool:
    """Whether these words say that verb, wherever the global options stand."""
    names = [
        text
        for index, text in enumerate(given)
        if not text.startswith("-") and given[index - 1 : index] not in ([one] for one in _VALUED)
    ]
    plain = [word for word in verb if not word.startswith("-")]
    return names[: len(plain)] == plain and all(word in given for word in verb if word.startswith("-"))
