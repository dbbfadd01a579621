"""A page of ordinary text, as memories hold it: what a store of one text knows of all the others.

A background learnt from two documents would take any third one for a wonder. So every background begins with this page, and what
is stored is added to it.
"""

from __future__ import annotations

from functools import cache

from indelible.recall.tokens import features, parse_features

__all__ = ["PAGE", "buckets"]

PAGE = """\
# Release checklist

We moved the release to Thursday because the tests failed twice last week, and nobody had looked at the log before they went home. Please
ask me first if you want to change how this works; it was not easy to find out what went wrong. The server must be restarted after each
deploy, or users will see an old version of the page until their cache is cleared.

- Run `make test` and read the output. If anything is red, stop and write down why.
- Never delete a branch that other people use. Keep at least three backups, and check that one of them can be read.
- The key is changed every ninety days; the next time is in March. Do not send passwords by mail.

Hey, thanks so much for your help yesterday! I really appreciate it. How have you been? It's great to hear from you, and I can't wait to see
the new place you told me about. My sister says hello; she and her family are doing well, and the kids started school again. Let me know
when you have some time, we could go for a walk or have a coffee. Take care and talk to you soon! Bye.

What did they do about the customer who asked for a refund? I think that we should pay it back, since the order was lost on its way. That
would be fair, and it is also what the contract says. There were only 12 such cases in 2024, about 0.5 % of all orders, so it will not cost
us more than 1,300 dollars. On the other hand, some people may try to use it twice. You're right that this is something we don't want.

He was born in the north of the country and lived there for most of his life. During the war the city was taken by the army; after that
the government built a new bridge over the river, which is still used today. The first book of hers was published when she was nineteen years old.
Scientists found that the water at the bottom of the lake is much older than what is above it. The company has 250 workers in five countries.

Decision: use PostgreSQL for the queue. Reason: one thing less to run. Owner: ops team. Date: 2025-11-30T10:15:00Z. Status: accepted.
TODO: fix the error in the parser (issue #142), update README.md, remove dead code, add more tests for the user interface.
Error: could not connect to host 192.168.0.1 port 5432: connection refused (retry 3 of 5). Warning: disk /dev/sda1 is 91% full.

{"id": 17, "name": "example", "type": "note", "tags": ["work", "home"], "active": true, "count": 0, "created_at": "2025-01-02", "value": null}
id,name,email,amount,date
1,Anna,anna@example.com,19.90,2025-03-04
def main(argv: list[str]) -> int:
    for line in open(path, encoding="utf-8"):
        if not line.strip() or line.startswith("#"):
            continue
        print(self.name, len(line), end="")
    return 0
const result = await fetch(`https://api.example.com/v1/users/${userId}`); if (!result.ok) { throw new Error("failed"); }
SELECT name, count(*) FROM users WHERE created > now() - interval '7 days' GROUP BY name ORDER BY 2 DESC LIMIT 10;

배포는 매주 화요일에 하고, 그 전에 반드시 체크섬을 확인한다. 지난주에는 서버가 두 번 멈췄기 때문에 원인을 기록해 두었다. 이 문서는 다음 회의에서 다시 볼 예정이다.
그는 서울에서 태어나 대학교에서 역사를 공부했으며, 이후 정부의 여러 기관에서 일했다. 당시 이 사건은 많은 사람들에게 알려졌고, 신문에서도 크게 다루었다.
고객이 요청한 내용은 내일까지 답변해야 합니다. 감사합니다. 오늘은 비가 와서 집에서 책을 읽었어요. 한국의 경제는 1990년대에 빠르게 성장하였다.
"""


@cache
def buckets() -> tuple[int, ...]:
    """The buckets of its grams."""
    return parse_features(features(PAGE.encode())).grams
