"""The characters of a text: which of them cannot be seen, and what a text reads as when disguises are taken off.

`visible` shows a reader every character that has no shape of its own. `folded` is a copy for looking words up, never for
handing out: invisible characters are gone, look-alikes of Latin letters are those letters, case is folded.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape

from indelible.gate.shown import INVISIBLE, visible

__all__ = ["INVISIBLE", "folded", "hidden_ascii", "parted", "visible"]

_FOLDED_AWAY = re.compile(f"[{INVISIBLE}\u0300-\u036f\u20d0-\u20ff]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]")
"""What parts words as a space does and has no shape of its own: controls, separators, blanks that count as letters."""
_ASCII_CONTROL = {code: " " for code in range(128) if _CONTROL.match(chr(code))}
_ODD = re.compile("[^\t\n\r\x20-\x7e‘’“”–—…•·→←×°§±≤≥✓✅❌│├└─가-힣ぁ-ヿ一-鿿、。「」\U0001f300-\U0001faff]+")
"""What may fold to something else, beside the case of letters."""
_FLAG = "\U0001f3f4"

_LOOKS_LIKE = {
    "a": "аɑαᴀ🅐🅰", "b": "ЬвʙВβ🅑🅱", "c": "сϲᴄ🅒🅲", "d": "ԁɗᴅ🅓🅳", "e": "еҽεєᴇ🅔🅴", "f": "ғꜰ🅕🅵", "g": "ɡցɢ🅖🅶", "h": "һнʜ🅗🅷",
    "i": "іιɪıӏ🅘🅸", "j": "јϳᴊ🅙🅹", "k": "кκᴋ🅚🅺", "l": "ⅼǀʟᛁ🅛🅻", "m": "мᴍ🅜🅼", "n": "пոɴη🅝🅽", "o": "оοσօᴏ🅞🅾", "p": "рρᴘ🅟🅿",
    "q": "ԛզ🅠🆀", "r": "гʀ🅡🆁", "s": "ѕꜱ🅢🆂", "t": "тτᴛ🅣🆃", "u": "υսᴜ🅤🆄", "v": "ѵνᴠ🅥🆅", "w": "ԝωшᴡ🅦🆆", "x": "хχ🅧🆇",
    "y": "уүγʏ🅨🆈", "z": "ᴢ🅩🆉", "'": "‘’ʼ′", '"': "“”", "-": "‐‑‒–—―−", ":": "ː꞉∶", ".": "․。",
}  # fmt: skip


def _letters() -> dict[int, str]:
    """Each look-alike, and each Latin letter with a mark, to the plain letter."""
    table = {ord(odd): plain for plain, odds in _LOOKS_LIKE.items() for odd in odds.casefold()}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base.isascii() and base.isalpha():
            table[code] = base.lower()
    return table


_LETTERS = _letters()


def folded(text: str) -> str:
    """`text` as its words are looked up: without disguise. Its length is another."""
    if "&#" in text:
        text = unescape(text)
    if text.isascii():
        return text.lower().translate(_ASCII_CONTROL)
    if _ODD.search(text):
        text = unicodedata.normalize("NFKC", _FOLDED_AWAY.sub("", _CONTROL.sub(" ", text)))
        text = _ODD.sub(_plain, _FOLDED_AWAY.sub("", text).casefold())
    return text.lower().replace("’", "'")


def _plain(match: re.Match[str]) -> str:
    return match[0].translate(_LETTERS)


def parted(text: str) -> str:
    """`text` with a space for each character of no width: between words it parts them, within one it parts nothing."""
    if text.isascii() or not any(mark in text for mark in _NO_WIDTH):
        return text
    return text.translate(dict.fromkeys(map(ord, _NO_WIDTH), " "))


_NO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def hidden_ascii(text: str) -> bool:
    """Whether tag characters spell something: nobody sees them, and a model reads them. The flags made of them are none."""
    if _PLANE not in text.encode(errors="surrogatepass"):
        return False
    return any(text[: match.start()][-1:] != _FLAG for match in _TAGS.finditer(text))


_TAGS = re.compile("[\U000e0020-\U000e007e]{2,}")
_PLANE = b"\xf3\xa0"
"""How each of them begins in UTF-8: bytes are looked through ten times as fast."""
