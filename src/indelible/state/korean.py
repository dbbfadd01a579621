"""The findings of a state directory in Korean: what each means, and what a person does about it. By slug, as in English."""

from __future__ import annotations

FOR_HUMAN = "사람이 할 일: "
_BACK = "'indelible state repair'가 봉인된 사본을 되돌려 놓고 다른 것은 따로 보관합니다"
_LOG = "'indelible state history'로 누가 서명했는지 보고, 소유자가 'indelible state amend'로 바로잡습니다"

FINDINGS = {
    "slot-removed": ("봉인된 파일이 없어졌음", "'indelible state repair'가 봉인된 글을 되돌려 놓습니다"),
    "slot-edited": ("파일이 봉인된 내용과 다름", _BACK),
    "slot-cut": ("봉인된 내용의 앞부분만 남았음", _BACK),
    "slot-extended": ("봉인되지 않은 내용이 덧붙었음", f"{_BACK}. 뜻한 내용은 'indelible state append'(90~99는 'write')로 더합니다"),
    "slot-symlink": ("파일이 심볼릭 링크임", _BACK),
    "slot-hard-linked": ("같은 파일에 다른 이름이 있어 그쪽으로 바뀔 수 있음", _BACK),
    "slot-not-a-file": ("파일이 아닌 것이 그 자리에 있음", _BACK),
    "slot-unsealed": ("봉인된 적 없는 파일이 있음", "당신 것이면 'indelible state adopt', 아니면 치우거나 'indelible state repair'"),
    "slot-renamed": ("봉인된 파일이 다른 이름으로 있음", "'indelible state repair'가 제 이름으로 되돌려 놓습니다"),
    "slot-unreadable": ("파일을 읽을 수 없음", f"권한을 되돌리거나, {_BACK}"),
    "directory-symlink": ("상태 디렉토리가 심볼릭 링크임", "링크를 치우고 'indelible state repair'를 실행하십시오"),
    "directory-not-a-folder": ("상태 디렉토리 자리에 폴더가 아닌 것이 있음", "치우고 'indelible state repair'를 실행하십시오"),
    "slot-rewritten": ("규칙을 어기고 다시 쓰였고, 이곳에 알려진 소유자의 서명이 없음", _LOG),
    "slot-withdrawn": ("티켓을 닫지 않고 규칙을 어겨 치워졌음", _LOG),
    "slot-doubled": ("같은 번호의 열린 슬롯이 또 있음", _LOG),
    "slot-absent": ("다른 곳에서 쓰였고, 이 폴더에는 아직 없음", "'indelible state repair'가 가져옵니다"),
    "slot-behind": ("다른 곳에서 새 버전이 쓰였고, 이 파일은 이전 버전임", "'indelible state repair'나 다음 쓰기가 최신으로 맞춥니다"),
    "slot-interrupted": ("봉인된 뒤 쓰기가 중단되었음", "'indelible state repair'나 다음 쓰기가 마무리합니다"),
    "slot-closed": ("티켓은 닫혔는데 파일이 남아 있음", "'indelible state repair'가 치웁니다"),
    "slot-writable": ("한 번만 쓰는 파일이 쓰기 가능 상태임", "'indelible state repair'가 읽기 전용으로 되돌립니다"),
}  # fmt: skip
