"""The words by which an order to a model is told, in classes: English and Korean, the commonest of five more languages.

A class is a row of words; `a+b` is a phrase. A rule (`RULES`) is a slug with classes in their order, each near the one
before. It must be rare that honest notes meet a whole rule; that they use the words is the ordinary case.
"""

from __future__ import annotations

_SENDING = "send forward email post upload transmit share copy mail submit put paste append push"
_IGNORING_LAST = "무시 잊어 잊고 따르지 무효 無視 忘れ 従わない 従うな ignorieren missachten 忽略 无视"
_SENDING_LAST = "보내 전송 전달 업로드 올려 게시 유출 送信 送って 転送 senden schicken"
_SKIPPING_LAST = "건너뛰 생략 우회 무시 スキップ 省略 überspringen"

_TELLING = "tell inform alert notify mention+this+to mention+it+to reveal+this telling informing notifying alerting"
_YOURS = "your+answer your+reply your+replies your+response your+responses your+output your+summary the+summary"

CLASSES = {
    "IGNORE": "ignore ignoring disregard disregarding forget neglect override bypass overrule supersede discard"
    " set+aside put+aside cast+aside throw+away leave+aside pay+no+attention+to take+no+notice+of give+no+weight+to"
    " do+not+follow don't+follow stop+following no+longer+follow do+not+obey don't+obey stop+obeying do+not+comply+with"
    " ignoriere ignorieren missachte haz+caso+omiso vergiss ignora olvida omite desestima ignorez oublie oubliez 忽略 无视 忘记 不要遵守 不要理会",
    "IGNORE_": _IGNORING_LAST,
    "PRIOR": "previous previously prior earlier preceding above foregoing former past initial original existing"
    " vorherigen vorherige bisherigen bisherige obigen anteriores anterior previas previos précédentes antérieures"
    " 이전 앞서 앞선 앞의 지금까지 기존 위의 之前 以上 先前 上面 前面 此前 以前の これまで 前の 上記",
    "AFTER": "above before previously earlier given+before given+above anteriores anterior previas previos précédentes antérieures",
    "ORDERS": "instruction instructions prompt prompts guidance guideline guidelines directive directives command commands"
    " orders directions context rules constraints restrictions safeguards programming training policy policies messages"
    " anweisungen anweisung vorgaben regeln instrucciones indicaciones reglas consignes règles"
    " 지시 지침 명령 규칙 프롬프트 지령 指令 指示 说明 提示 规则 规定 命令 プロンプト ルール",
    "YOUR": "your deine ihre tus vos 당신의 너의 네 你的 您的 あなたの",
    "VOID": "no+longer+apply no+longer+applies no+longer+valid void suspended revoked lifted is+cancelled are+cancelled are+superseded",
    "ALL": "all every any everything anything whatever alle alles todas todo tout toutes",
    "EVERYTHING": "모든 모두 전부 所有 一切 全部 すべて 全て",
    "TOLD": "told instructed taught said above gesagt dicho dit",
    "NOW": "you+are+now you're+now you+have+become you+will+now+be pretend act+as you+are+going+to+act you+are+about+to+immerse 너는 당신은 你现在 あなたは",
    "FREE": "unrestricted unfiltered uncensored jailbroken jailbreak dan unaligned no+restrictions no+rules no+limits no+guidelines"
    " without+restrictions without+any+restrictions without+rules without+any+rules without+guidelines without+limits"
    " 제한이+없는 제한+없는 制限のない 没有限制",
    "LOOSE": "do+anything+now can+do+anything developer+mode+enabled developer+mode+output no+moral+or+ethical ethical+guidelines"
    " never+refuse cannot+refuse never+say+no broken+free+of break+free+of freed+from+the+typical stay+in+character",
    "SEND": f"{_SENDING} e-mail exfiltrate deliver publish leak relay include embed report bcc cc"
    " sende schicke envía envia reenvía manda envoie envoyez transférez 发送 发给 转发 上传",
    "SENDIT": " ".join(
        f"{verb}+{what}" for verb in _SENDING.split()[:7] for what in ("it", "them", "these", "those", "this", "everything")
    )
    + " 发送 发给 转发 上传",
    "SEND_": _SENDING_LAST,
    "APPENDED": "appended attached included embedded",
    "CURL": "curl wget nc post",
    "REVEAL": "reveal exfiltrate leak divulge disclose repeat recite print output show tell+me give+me 출력 공개 알려 输出 泄露 显示 打印",
    "KEY": "api+key api+keys api_key api_keys apikey apikeys secret+key secret+keys access+key access+keys private+key"
    " private+keys ssh+key ssh+keys secrets password passwords passphrase credentials access+token access+tokens auth+token"
    " auth+tokens session+token session+tokens bearer+token session+cookie session+cookies environment+variables env+vars"
    " passwörter zugangsdaten contraseñas credenciales mots+de+passe identifiants"
    " 비밀번호 비밀키 암호 개인키 토큰 키를 키와 키들 密码 密钥 凭证 令牌 パスワード 秘密鍵 キーを 鍵を",
    "PRIVATE": "home+address phone+number credit+card card+number bank+account customer+list customer+data customer+records"
    " user+data personal+data conversation conversations chat+history transcript all+data all+files all+memories"
    " all+emails every+email all+messages every+message every+reply all+replies entire+database whole+record full+record"
    " entire+record source+code system+prompt 고객 대화 주소 对话 客户 会話 顧客",
    "DEEP": "system+prompt initial+instructions initial+prompt system+message system+instructions 系统提示",
    "BURIED": "hidden+instructions hidden+prompt hidden+system+message hidden+system+prompt secret+instructions",
    "DEST": "",
    "ADDRESS": "",
    "PLACE": "",
    "READ": "read open cat print dump show load fetch get grab collect list find copy extract retrieve lies lee lis"
    " 읽어 읽고 열어 출력 读取 打开 查看 読んで 読み 開いて",
    "PUT": "put include paste add append write insert echo embed place quote mention post send attach"
    " schreibe pon incluye mets 넣어 포함 붙여 적어 추가 써 放入 写入 放到 加入 含めて 入れて 書いて",
    "PASTE": "put include paste embed quote",
    "OUTPUT": f"{_YOURS} summary answer reply replies response output message comment issue report chat"
    " pr pull+request commit+message zusammenfassung antwort resumen respuesta résumé réponse"
    " 요약 답변 응답 답장 출력 메시지 커밋 摘要 回答 回复 总结 要約 返答",
    "ANSWER": f"{_YOURS} every+reply pr readme the+chat this+chat",
    "HIDE": " ".join(
        f"{do}+{verb}"
        for do in ("do+not", "don't", "never", "without")
        for verb in _TELLING.split()
    )
    + " do+not+let don't+let hide+this+from hide+it+from keep+this+from conceal+this+from ne+dites+rien ne+dis+rien",
    "PERSON": "user users human humans owner owners operator reviewer reviewers anyone anybody nutzer benutzer usuario"
    " utilisateur l'utilisateur 사용자 사람 주인 用户 人类 ユーザー",
    "UNAWARE": "must+not+know should+not+know must+never+know must+not+find+out should+not+find+out must+not+notice never+finds+out never+find+out does+not+find+out",
    "TELLNOT": "알리지 말하지 보고하지 몰래 숨겨 숨기고 언급하지 伝えない 言わない 知らせない",
    "NOTELL": "不要告诉 别告诉 不要让 no+le+digas no+digas",
    "SAY": "sag sage sagen",
    "NOTHING": "nichts",
    "KEEPSECRET": "keep+this+secret keep+this+hidden keep+this+between+us keep+it+secret+from our+little+secret"
    " this+is+our+secret mention+this+to+anyone 비밀로 우리끼리 保密",
    "SKIP": "skip bypass omit circumvent override disable turn+off switch+off ignore waive überspringe salta omite saute 跳过 绕过",
    "SKIP_": _SKIPPING_LAST,
    "APPROVAL": "approval approvals approval+step approval+steps review+step review+steps human+review code+review"
    " permission+check permission+checks permission+prompt security+review safety+check safety+checks review+gate"
    " approval+gate sign-off signoff freigabe genehmigung aprobación approbation"
    " 승인 검토 허가 결재 审批 批准 审核 承認 確認",
    "CONFIRM": "confirmation confirmations confirmation+prompts confirmation+prompt hooks pre-commit",
    "ACT": "push deploy merge commit publish release delete execute proceed run act transfer pay install approve drop"
    " 푸시 배포 병합 머지 커밋 삭제 실행 진행 推送 部署 合并 执行 删除 プッシュ デプロイ 実行",
    "UNASKED": " ".join(
        f"without+{what}"
        for what in (
            "asking", "approval", "permission", "confirmation", "confirming", "review", "waiting", "being+asked", "prior+approval",
            "any+approval", "human+approval", "user+approval", "further+approval", "any+confirmation", "any+review", "checking+with",
        )
    )
    + " ohne+zu+fragen ohne+freigabe sin+preguntar sin+aprobación sans+demander sans+approbation"
    " 묻지+말고 묻지+않고 승인+없이 확인+없이 허락+없이 검토+없이 리뷰+없이 无需批准 不用问 未经批准 無断で 確認なしで 承認なしで",
    "UNDUE": "no+need+to+ask no+need+to+wait not+need+to+ask don't+need+to+ask do+not+ask+for don't+ask+for do+not+wait+for"
    " don't+wait+for never+ask+for no+longer+need",
    "LEAVEUNDUE": "no+approval+is+needed no+approval+is+required approval+is+no+longer+needed approval+is+no+longer+required"
    " approvals+are+no+longer+needed approvals+are+no+longer+required confirmation+is+no+longer+needed confirmation+is+no+longer+required",
    "LEAVE": "approval permission confirmation consent",
    "AUTOAPPROVE": "auto-approve autoapprove automatically+approve",
    "TREAT": "treat+this treat+it treat+these treat+the+following consider+this consider+it consider+these regard+this"
    " assume+this assume+that+the assume+the",
    "APPROVED": "approved pre-approved preapproved authorised authorized trusted verified reviewed authoritative",
}  # fmt: skip
"""Class to words. By their form are told: ADDRESS, DEST (one that something goes to), PLACE (where secrets lie)."""

RULES = (
    ("overrides-instructions", "IGNORE PRIOR ORDERS"),
    ("overrides-instructions", "IGNORE ORDERS AFTER"),
    ("overrides-instructions", "PRIOR ORDERS IGNORE_"),
    ("overrides-instructions", "EVERYTHING ORDERS IGNORE_"),
    ("overrides-instructions", "IGNORE EVERYTHING ORDERS"),
    ("overrides-instructions", "IGNORE YOUR ORDERS"),
    ("overrides-instructions", "IGNORE ALL TOLD"),
    ("overrides-instructions", "IGNORE ALL PRIOR"),
    ("overrides-instructions", "YOUR ORDERS VOID"),
    ("overrides-instructions", "NOW FREE"),
    ("overrides-instructions", "LOOSE"),
    ("exfiltrates", "SEND KEY DEST"),
    ("exfiltrates", "SEND PRIVATE DEST"),
    ("exfiltrates", "SEND PLACE DEST"),
    ("exfiltrates", "KEY SENDIT DEST"),
    ("exfiltrates", "PRIVATE SENDIT DEST"),
    ("exfiltrates", "PLACE SENDIT DEST"),
    ("exfiltrates", "KEY DEST SEND_"),
    ("exfiltrates", "PRIVATE DEST SEND_"),
    ("exfiltrates", "DEST KEY SEND_"),
    ("exfiltrates", "DEST PRIVATE SEND_"),
    ("exfiltrates", "DEST KEY APPENDED"),
    ("exfiltrates", "CURL PLACE ADDRESS"),
    ("exfiltrates", "REVEAL YOUR DEEP"),
    ("exfiltrates", "REVEAL BURIED"),
    ("hides", "HIDE PERSON"),
    ("hides", "PERSON UNAWARE"),
    ("hides", "PERSON TELLNOT"),
    ("hides", "NOTELL PERSON"),
    ("hides", "SAY PERSON NOTHING"),
    ("hides", "KEEPSECRET"),
    ("skips-approval", "SKIP APPROVAL"),
    ("skips-approval", "APPROVAL SKIP_"),
    ("skips-approval", "SKIP CONFIRM ACT"),
    ("skips-approval", "ACT SKIP CONFIRM"),
    ("skips-approval", "ACT UNASKED"),
    ("skips-approval", "UNASKED ACT"),
    ("skips-approval", "UNDUE LEAVE"),
    ("skips-approval", "LEAVEUNDUE"),
    ("skips-approval", "AUTOAPPROVE ALL"),
    ("skips-approval", "TREAT APPROVED"),
    ("reads-secrets", "READ PLACE PUT OUTPUT"),
    ("reads-secrets", "PLACE READ OUTPUT PUT"),
    ("reads-secrets", "PLACE OUTPUT PUT"),
    ("reads-secrets", "READ PLACE ANSWER"),
    ("reads-secrets", "PASTE KEY ANSWER"),
    ("reads-secrets", "READ KEY ANSWER"),
)
