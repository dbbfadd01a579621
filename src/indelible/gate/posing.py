"""Forms by which a text speaks as somebody else: as the system, as the user, as its own reviewer.

Each pattern runs over a folded text, and has one bounded gap at most, so that its time grows with the length of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODEL = "(?:assistant|model|ai|llm|agent|chatbot|language model|claude|chatgpt|gpt|copilot|gemini)"
_ORDER = (
    r"(?:from now on|going forward|you must|you will|you are|you should|ignore|disregard|forget|skip|bypass|override|approved?|go ahead"
    r"|permission granted|i approve|i confirm|yes,|reveal|focus|send|forward|execute|run|push|deploy|delete|do not|don't"
    r"|new (?:rule|instruction|task|policy)|i will now|the (?:user|owner) (?:has|wants|approved)|read|print|output|처리|승인|무시|보내|실행|앞으로|이제부터|忽略|执行)"
)


class Form(NamedTuple):
    """A pattern, and what must be in a text before it is worth running."""

    slug: str
    hints: tuple[frozenset[str], ...]
    """A word of each is in the text, or a piece of it where the hint is no word."""
    pattern: re.Pattern[str]


def _form(slug: str, hints: str, pattern: str) -> Form:
    return Form(slug, tuple(frozenset(group.split("|")) for group in hints.split()), re.compile(pattern))


FORMS = (
    _form("poses-as-system", "system|assistant|developer|user|human",
          rf"(?:^|[\n.!?>] ?)[>#*\[(<|`\"' -]{{0,4}}(?:system|assistant|developer|user|human) ?(?:[\]>]|[\])>*`]{{0,3}}:) ?[*`\"']{{0,3}}{_ORDER}(?![a-z])"),
    _form("poses-as-system", "system|internal|admin|operator|priority note|notice|reminder|directive|override|alert|command",
          r"(?<![\w-])(?:system|internal|admin|operator|priority) (?:note|notice|reminder|directive|override|alert|command) ?:"),
    _form("poses-as-system", "note|reminder|aside|message|memo|attention assistant|model|ai|llm|agent|chatbot|claude|gpt|copilot|gemini",
          rf"(?<![\w-])(?:note|reminder|aside|message|memo|attention)(?: to| for)? (?:the |all |any |every )?(?:ai )?{_MODEL}s? ?[:,;-]"),
    _form("poses-as-system", "reminder for", r"\bquick reminder for you\b"),
    _form("poses-as-system", "assistant|model|ai|llm|agent|chatbot|claude|gpt|copilot|gemini",
          rf"(?:^|[\n.!?>] ?)[>#*\"'-]{{0,3}} ?(?:dear |hey |hello |hi |ok |okay )?(?:ai )?{_MODEL}s?, ?(?:please )?{_ORDER}\b"),
    _form("overrides-instructions", "ignore|disregard|forget",
          r"\b(?:ignore|disregard|forget)[_-]?(?:(?:all|any|the|your|my)[_-]?){0,3}(?:previous|prior|above|earlier)[_-]?(?:instruct|prompt|guid|command|direct|rule)"),
    _form("poses-as-system", "begin|start system|admin", r"\b(?:begin|start)(?: of)? (?:system|admin) (?:prompt|message|instructions?)\b"),
    _form("poses-as-system", "assistant|ai|llm|claude|chatgpt|gpt|copilot|agent|agents", rf"<!--[ \n]?(?:ai )?{_MODEL}s? ?[:,]"),
    _form("poses-as-system", "ai|llm", r"\bas an (?:ai|llm)(?: (?:agent|assistant|model))?,? you (?:are required|must|have to|shall)\b|\bif you are an? (?:ai|llm)(?: (?:agent|assistant|model))?(?: reading this)?,? (?:you must|you should|please|do|run|send|ignore|disregard)\b"),
    _form("poses-as-system", "message", r"\bmessage from (?:the |your )?(?:system|admin|administrator|system administrator|developers?|owner|creator|anthropic|openai|google|microsoft|security team) ?[:!]"),
    _form("poses-as-system", "end", r"(?:^|\n)[ \[=#*<-]{0,6}end of (?:reference|memory|memories|context|untrusted|document|data|note|system prompt)\b"),
    _form("overrides-instructions", "ignore|disregard",
          r"\b(?:ignore|disregard) (?:the |all |any |other )?(?:rest of (?:this|the) (?:data|text|document)|instructions|directions|info)(?: and|,? except|,)"),
    _form("overrides-instructions", "new|updated|revised", r"(?:^|[\n.!?] ?)(?:your )?(?:new|updated|revised) (?:instructions|guidance|directives?|orders|system (?:message|prompt)) ?:|\byour new (?:task|goal|job|role|instructions?|objective) (?:is|are)\b"),
    _form("claims-authority", "priority|precedence", r"\bthis (?:instruction|rule|note|message|memory|record) (?:has|takes) (?:the )?(?:highest|top|absolute|maximum) (?:priority|precedence)\b|\btakes precedence over (?:all|any|every) (?:other|previous|prior|earlier) (?:instruction|rule|guideline)"),
    _form("claims-authority", "permission|authorization|approval|consent", r"\byou (?:now )?have (?:my|full|the user's|the owner's|admin|root) (?:permission|authori[sz]ation|approval|consent)\b"),
    _form("claims-authority", "override", r"\b(?:admin|administrator|system|priority|operator|root|emergency|owner|security)(?:'s)? override ?[:;!,.]"),
    _form("claims-authority", "mode", r"\b(?:you are now|you're now|you have (?:now )?entered|you have been (?:put|placed|switched)|you now operate)"
          r" (?:in|into|to)? ?(?:a |an |the )?(?:\w{1,20} )?(?:developer|debug|maintenance|admin|god|root|sudo|jailbreak|unrestricted|dan|override|service|privileged|superuser|diagnostic) mode\b"),
    _form("claims-authority", "authorize|authorise|authorized|authorised", r"\bi (?:hereby )?authori[sz]e you\b|\byou are (?:hereby |now )?(?:fully )?authori[sz]ed to\b"),
    _form("claims-authority", "reviewed|approved|verified|trusted|authorized|authorised|pre-approved memory|note|record|message|instruction|text",
          r"\bth(?:is|e following) (?:memory|note|record|message|instruction|text)s? (?:was|is|has been|were|are|have been)"
          r" (?:already |fully |pre-?)?(?:reviewed|approved|verified|trusted|authori[sz]ed)\b"),
    _form("claims-authority", "reviewed|approved|trusted|verified|vetted|authority|trust|reviewed_by|approved_by|verified_by|trust_level",
          r"(?:^|\n)[ >*-]{0,4}(?:human[ _-]?)?(?:(?:pre[-_])?(?:reviewed|approved|trusted|verified|vetted) ?[:=] ?[\"']?(?:true|yes|y|1|ok)[\"']?[ .,;]{0,3}(?=\n|$)"
          r"|(?:reviewed|approved|verified)_by ?[:=]|authority ?[:=] ?[\"']?(?:instruction|system|rule)|trust(?:_level)? ?[:=] ?[\"']?(?:verified|full|high|system)\b)"),
)  # fmt: skip

_BY_HINT = {hint: tuple(form for form in FORMS if hint in form.hints[0]) for form in FORMS for hint in form.hints[0]}
_WIDE = (
    (
        "poses-as-system",
        re.compile(
            rf"(?:^|[\n.!?] ?)[>#*\[-]{{0,4}} ?(?:시스템|사용자|系统|用户|システム|ユーザー) ?(?:\]|[\]*]{{0,3}}[:：]) ?{_ORDER}"
        ),
    ),
    (
        "claims-authority",
        re.compile(
            r"이 (?:메모|기억|문서|기록|지시|규칙)\w{0,2} ?(?:이미 )?(?:검토|승인|확인)\w{0,2} ?(?:완료|되었|됐|된|받았|받은)"
        ),
    ),
    ("claims-authority", re.compile(r"(?:此|本|这条|该)(?:记忆|备忘|指令|消息|规则)(?:已经?)(?:审核|批准|验证)")),
)
_WIDE_HINTS = re.compile("시스템|사용자|系统|用户|システム|ユーザー|검토|승인|확인|审核|批准|验证")
"""None of those is in a text without one of these."""
HINTS = frozenset(_BY_HINT)
"""No form is in a text without one of these words, or a bracket."""
_TEMPLATE = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|end|eot_id|start_header_id|end_header_id|endoftext|begin_of_text)\|>"
    r"|\[/?inst\]|<<sys>>|<start_of_turn>"
)
_TAG = re.compile(
    r"<(/?)(memory|memories|system|system-reminder|system_prompt|assistant|instructions|tool_result|function_results|untrusted|reference|context|user_input)>"
)


def poses(text: str, words: frozenset[str] | set[str]) -> Iterator[str]:
    """Slugs of the forms that are in a folded text, of which these are the words."""
    forms = {form for hint in words & HINTS for form in _BY_HINT[hint]}
    for form in forms:
        if not words.isdisjoint(form.hints[-1]) and form.pattern.search(text):
            yield form.slug
    if not text.isascii() and _WIDE_HINTS.search(text):
        yield from (slug for slug, pattern in _WIDE if pattern.search(text))
    if ("<|" in text or "[" in text or "<s" in text) and _TEMPLATE.search(text):
        yield "poses-as-system"
    if "</" in text and _closes_what_it_did_not_open(text):
        yield "poses-as-system"


def _closes_what_it_did_not_open(text: str) -> bool:
    """A tag that ends a frame around the text; a pair of tags is only an example of one."""
    opened: dict[str, int] = {}
    for match in _TAG.finditer(text):
        opened[match[2]] = opened.get(match[2], 0) + (-1 if match[1] else 1)
        if opened[match[2]] < 0:
            return True
    return False
