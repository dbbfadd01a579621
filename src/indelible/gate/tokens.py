"""A folded text as words with their places in the rules of the lexicon.

Distances are in characters; the end of a sentence adds some.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indelible.gate.characters import folded
from indelible.gate.lexicon import CLASSES, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

STOP = 15
"""What the end of a sentence, of a paragraph or of a list's item adds to a distance."""
NEAR, FAR = 32, 80
"""How far a rule's next class may lie: about six words; the same again and half on the way to an address."""
SECRET_NAMES = ("_key", "_token", "_secret", "_password")
"""How a key in the environment ends: OPENAI_API_KEY."""

LAST = tuple(len(rule.split()) - 1 for _, rule in RULES)
"""The last place of each rule."""

Slot = tuple[int, int, int]
"""A place in a rule: the rule's number, the place's number, how far back the place before it may end."""


class Meaning(NamedTuple):
    """What a word or a phrase may stand for."""

    slots: tuple[Slot, ...]
    """Later places first, so that one word never fills two places of a rule."""
    classes: frozenset[str]


def _slots(names: frozenset[str]) -> tuple[Slot, ...]:
    found = [
        (number, place, FAR if "DEST" in rule or "CURL" in rule else NEAR)
        for number, (_, rule) in enumerate(RULES)
        for place, name in enumerate(rule.split())
        if name in names
    ]
    return tuple(sorted(found, key=lambda slot: -slot[1]))


def _meanings() -> dict[str, Meaning]:
    classes: dict[str, set[str]] = {}
    for name, words in CLASSES.items():
        for word in words.split():
            classes.setdefault(folded(word.replace("+", " ")), set()).add(name)
    return {word: Meaning(_slots(frozenset(names)), frozenset(names)) for word, names in classes.items()}


MEANINGS = _meanings()
_ADDRESS, _DEST, _PLACE, _KEY = (
    Meaning(_slots(frozenset(names)), frozenset(names))
    for names in (("ADDRESS",), ("ADDRESS", "DEST"), ("PLACE",), ("KEY",))
)


def _wide(word: str) -> bool:
    return word[-1] >= "\u1100"


STEMS = tuple(sorted(filter(_wide, MEANINGS), key=len, reverse=True))
"""Words of scripts that write particles, or everything, without a space: found wherever they stand."""


def _phrases() -> dict[str, list[tuple[list[str], Meaning]]]:
    """By their first word, longest first."""
    phrases: dict[str, list[tuple[list[str], Meaning]]] = {}
    for text, meaning in MEANINGS.items():
        first, *rest = text.split(" ")
        if rest and not _wide(text):
            phrases.setdefault(first, []).append((rest, meaning))
    for found in phrases.values():
        found.sort(key=lambda phrase: -len(phrase[0]))
    return phrases


PHRASES = _phrases()

DOMAINS = ("com", "net", "org", "io", "example", "xyz", "ru", "site", "info")

_TOKEN = re.compile(
    r"(?P<address>https?://[^\s<>\"')\]]{1,300}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"
    rf"|(?<![\w.])[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{0,4}}\.(?:{'|'.join(DOMAINS)})"
    r"(?![\w(])(?:/[^\s<>\"')\]]{0,200})?)"
    r"|(?P<place>\.ssh(?:/[\w.-]{0,60})?|\bid_(?:rsa|ed25519|ecdsa)(?:\.pub)?|(?<!\w)\.env(?:\.[\w.-]{1,30})?(?!\w)|\.aws/credentials|\.netrc"
    r"|\.pgpass|\.git-credentials|\.kube/config|/etc/(?:shadow|passwd))"
    r"|(?P<stem>" + "|".join(map(re.escape, STEMS)) + r")"
    r"|(?P<word>[^\W_][^\W\u1100-\uffff]{0,40}(?:['-][^\W\u1100-\uffff]{1,20}){0,3})"
    r"|(?P<stop>[.!?;](?=\s|$)|[。！？；]|\n\s*\n|\n ?[-*#|>+])"
    r"|(?P<pause>[,:()])"
)  # fmt: skip
_HARMLESS = (".pub", "config", "known_hosts", "authorized_keys", ".example", ".sample", ".template", ".test")
_TOWARDS = frozenset({"to", "at", "into", "via", "an", "a", "à", "towards", "through", "with"})

_NEGATIONS = (
    "not never don't dont doesn't cannot can't won't shouldn't mustn't avoid nor neither refuse without no stop prevents"
    " prevent blocks nicht nie nunca jamais"
)
_MODALS = (
    "can could might would will who that which attacker attackers they we i it may users people to someone accidentally"
    " didn't did not"
)
_VERBS = "IGNORE IGNORE_ SEND SENDIT SEND_ REVEAL READ PUT PASTE CURL SKIP SKIP_ ACT TREAT AUTOAPPROVE"
NEGATIONS, MODALS = frozenset(_NEGATIONS.split()), frozenset(_MODALS.split())
GUARDED = frozenset(_VERBS.split())
"""Classes of verbs. After a negation they forbid."""
TOLD_OF = frozenset({"SKIP", "ACT", "SEND", "SENDIT", "REVEAL", "AUTOAPPROVE"})
"""Of these, the ones that only tell what somebody may do after `can`, `attackers` and the like."""


_BEFORE = re.compile("[不禁勿别莫].{0,3}$")
_BEHIND = re.compile("[^.。\n]{0,3}(?:지 ?(?:마|말|않)|しない|しません|せず|ないで|금지|禁止)")


class Found(NamedTuple):
    """A word or phrase that rules know."""

    start: int
    end: int
    slots: tuple[Slot, ...]


def known_words(text: str) -> Iterator[Found]:
    """What of a folded text the rules know, in its order, without what is forbidden or only told of."""
    tokens = [(match.lastgroup, match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]
    recent: list[str] = []
    stops = until = 0
    for number, (kind, word, start, _) in enumerate(tokens):
        if kind == "stop":
            stops += STOP
        if kind in ("stop", "pause"):
            recent.clear()
            continue
        meaning, words = _meaning(tokens, number, text)
        if meaning is not None and number >= until and not _guarded(meaning.classes, recent):
            last = number + words - 1
            until = number + words
            yield Found(start + stops, tokens[last][3] + stops, meaning.slots)
        if number >= until:
            recent = [*recent[-1:], word]


def _meaning(tokens: list[tuple[str | None, str, int, int]], number: int, text: str) -> tuple[Meaning | None, int]:
    """What the word at `number` stands for, and how many words it takes."""
    kind, word, start, end = tokens[number]
    if kind == "address":
        return (_DEST if _is_aimed_at(text, start, end) else _ADDRESS), 1
    if kind == "place":
        return (None if word.endswith(_HARMLESS) else _PLACE), 1
    if kind == "stem":
        meaning = MEANINGS[word]
        return (None if not meaning.classes.isdisjoint(GUARDED) and _forbidden(text, start, end) else meaning), 1
    for rest, meaning in PHRASES.get(word, ()):
        if [token[1] for token in tokens[number + 1 : number + 1 + len(rest)]] == rest:
            return meaning, 1 + len(rest)
    if "_" in word and word.endswith(SECRET_NAMES):
        return _KEY, 1
    return MEANINGS.get(word), 1


def _is_aimed_at(text: str, start: int, end: int) -> bool:
    """Whether something goes to the address between `start` and `end`: a preposition before it, or a particle at it."""
    before = text[max(0, start - 24) : start].rstrip(" <`\"'[(*:")
    return (
        before.rpartition(" ")[2] in _TOWARDS
        or before[-1:] >= "\u1100"
        or text[end : end + 3].strip(" `>)")[:1] >= "\u1100"
    )


def _forbidden(text: str, start: int, end: int) -> bool:
    """Whether what stands between `start` and `end` is forbidden: Chinese says so before it, Korean and Japanese after it."""
    return (
        _BEFORE.search(text[max(0, start - 5) : start]) is not None or _BEHIND.match(text[end : end + 10]) is not None
    )


def _guarded(classes: frozenset[str], recent: list[str]) -> bool:
    """Whether the words before make an order not to, or a report, of it."""
    if classes.isdisjoint(GUARDED):
        return False
    return not NEGATIONS.isdisjoint(recent) or (not classes.isdisjoint(TOLD_OF) and not MODALS.isdisjoint(recent[-1:]))
