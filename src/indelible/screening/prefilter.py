"""The one cheap look that every save pays for: where in a text a secret could stand at all.

It may point at innocent lines, and must not pass over a line in which a detector would find something. It is linear in the
length of the text, and compiles no detector. Each expression begins with a set of characters that are rare in prose: the search
then runs over the rest at a nanosecond a character, and what comes before such a character is looked at from there. What comes after it is only looked at, not consumed: the next line
may begin with what would then be passed over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Its one group is that of a sign of assignment, before which the name has still to be looked for.
_RARE = re.compile(
    r"[A-Z29_:=|>+.~：＝-](?="
    r"(?<=[_-])[A-Za-z0-9][\w-]{13}"  # ghp_…, sk-…, glpat-…, AGE-SECRET-KEY-…
    r"|(?<=-)us[0-9]|(?<=\s-)[apu][ =\"']?[^\s-]"  # Mailchimp's data centre, after the key; curl -u, mysql -p
    r"|(?<=----)(?:BEGIN|END) [^\n-]{0,60}PRIVATE"
    r"|(?<=:)//(?:[^\s/@]{1,256}@|hooks\.)"
    r"|(?<=:)(?:AA[\w-]{20}|[0-9*]{1,5}:[^:\s]{1,64}:[^:\s]{1,64}:\S)"  # a Telegram bot; a line of .pgpass
    r"|(?<=\+)KEY\+"
    r"|(?<=A)(?:T(?:ATT3x|BB)\w|(?:KIA|SIA|BIA|CCA|3T)[A-Z0-9]{12}|Iza[\w-]{10}|KC\w{10}|C[0-9a-f]{32})"
    r"|(?<=S)(?:G\.[\w-]{10}|K[0-9a-f]{32})"
    r"|(?<=eyJ)[\w-]{8}"
    r"|(?<=M)II[A-Za-z0-9+/]{10}|(?<=B)(?<=b3B)lbnNzaC1rZXk|(?<=L)TAI\w{10}|(?<=E)AAA\w{10}|(?<=N)RAK-|(?<=P)(?:MAK-|rivate-Lines|uTTY-User)"
    r"|(?<=\.)(?:(?<=hv[sb]\.)|(?<=ya29\.)|(?<=dp\.))\w|(?<=\.)[a-f0-9]{40}"
    r"|(?<=~)(?<=[0-9]Q~)"
    r"|(?<=F)lyV1 |(?<=G)R1348941"
    r"""|(?<=[:=|>：＝])[\s"'`*_@\\]{0,8}[^\s"'`*_@\\]{2}()"""
    r")"
)
_NAME = re.compile(
    "pass|pwd|pw|pin|mdp|secret|token|key|auth|cred|bearer|senha|clave|contrase|wort|woord|geheim|schl|hasl|hasł|heslo|parol|senord|sandi|salasana|adgangs|jelsz|ifre"
)
_BACK = 48
"""Characters before a sign of assignment in which the last word of a name is looked for."""
_WRAP = " \t\"'`])*_!:=\\"

_WORD = re.compile("pass|bearer|basic |secret|token|key|pwd|identified|dapi")
_SPOKEN = re.compile(
    r"bearer(?=\s+[\w.~+/=-]{12})|basic(?=\s+[a-z0-9+/=]{8})|--?(?=[a-z-]{0,16}?(?:pass|secret|token|key|pwd|user)[a-z-]{0,12}[ =])|sshpass"
    r"|identified(?=\s)|dapi(?=[0-9a-f]{16})"
    r"|(?:pass|secret|token|key|pwd)(?=[a-z]{0,8}['\"`*)]{0,2}\s{1,3}(?:(?:is|was|ist|war|es|est)\s|['\"`]|\S*[0-9]))"
)
_NATIVE = re.compile(
    "비밀|비번|암호|패스워드|인증|접근 ?키|액세스 ?키|토큰|키(?<=api 키)|키(?<=api키)|パスワード|暗証番号|秘密鍵|合言葉|トークン|キー(?<=apiキー)|シークレット"
    "|密码|密碼|口令|密钥|密鑰|令牌|暗号|пароль|Пароль|секрет|Секрет|токен|Токен|ключ|Ключ|ñ(?<=contraseñ)a|ậ(?<=mậ)t khẩu|şifre|Şifre|ł(?<=hasł)o|ö(?<=lö)senord"
    "|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน|κωδικός|Κωδικός|סיסמ|ó(?<=jelszó)|ă(?<=parolă)|ü(?<=schlü)ssel"
)
"""Words that need more than ASCII, each begun at a letter that does."""


def pointed(text: str, lowered: str) -> Iterator[int]:
    """Positions in the lines that are worth a closer look.

    Args:
        lowered: the same text with the letters of ASCII in lower case, so that positions agree.
    """
    named: bool | None = None
    for found in _RARE.finditer(text):
        at = found.start()
        if found.lastindex is None:
            yield at
            continue
        if named is None:
            named = _NAME.search(lowered) is not None
        if named and _is_named(lowered[max(0, at - _BACK) : at]):
            yield at
    if _WORD.search(lowered):
        yield from (found.start() for found in _SPOKEN.finditer(lowered))
    if not text.isascii():
        yield from (found.start() for found in _NATIVE.finditer(lowered))


def _is_named(before: str) -> bool:
    """Whether what stands before a sign ends in the name of a secret."""
    words = before.rstrip(_WRAP).rsplit(None, 1)
    return bool(words) and _NAME.search(words[-1]) is not None
