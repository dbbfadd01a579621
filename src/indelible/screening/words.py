"""The words that secrets are called by, in the languages that memories are written in: expressions that ignore case.

What is added here must be pointed at by `prefilter` as well; a test holds the two against each other.
"""

from __future__ import annotations

PASSWORDS = (
    r"pass(?:word|wd|phrase|code|wort)s?|passwords?|pwd|(?<=[_.])pass(?![a-z])|(?-i:(?<=[a-z])Pass)(?![a-z])|\bpw(?=[\"'`]?\s*[:=])|(?-i:\bPIN)(?=\s*[:=][\s\"']*[0-9]{4,8}\b)"
    r"|passwort|kennwort|losungswort|mot de passe|\bmdp\b|contrase(?:ñ|n)a|\bsenha|\bclave|wachtwoord|l(?:ö|o)senord|has(?:ł|l)o\b"
    r"|\bheslo|\bparola|parolă|parola d'ordine|adgangskode|passord|salasana|kata sandi|jelszó|mật khẩu|(?:ş|s)ifre\b"
    r"|비밀\s?번호|비번|암호|패스워드|パスワード|暗証番号|合言葉|密码|密碼|口令|пароль|كلمة المرور|كلمة السر|पासवर्ड|รหัสผ่าน|κωδικός|סיסמ[הא]"
)
"""A person's or a service's password; few rules for what one looks like."""

TOKENS = (
    r"(?:api|access|secret|private|auth|encryption|encrypt|signing|master|service|account|storage|client|app|application|licen[cs]e|webhook"
    r"|deploy|session|shared|root|admin|consumer|hmac|jwt|bot|security|subscription|project|team|user|server)[ _.-]?keys?"
    r"|(?<=[a-z0-9])_key(?![a-z])|(?-i:(?<=[a-z])Key)(?![a-z])|apikey|authkey"
    r"|secrets?|tokens?|credentials?|\bcreds?\b|_auth(?![a-z])|authorization|bearer"
    r"|비밀\s?키|인증\s?키|접근\s?키|액세스\s?키|api\s?키|토큰|秘密鍵|トークン|apiキー|シークレット|密钥|密鑰|令牌|секрет|токен|ключ доступа"
    r"|zugangsschlüssel|geheimnis|schlüssel"
)
"""What a machine made: it looks like nothing else."""
