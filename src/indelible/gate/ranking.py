from collections.abc import Sequence


def rank(query: str, texts: Sequence[str]) -> list[int]:
    words = set(query.lower().split())
    return sorted(
        (i for i, t in enumerate(texts) if words & set(t.lower().split())),
        key=lambda i: -len(words & set(texts[i].lower().split())),
    )
