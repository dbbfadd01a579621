from __future__ import annotations

from collections.abc import Mapping

from indelible.gate.verdict import Reason


def in_scope(
    scope, *, reader: str, place, facts: Mapping[str, str], admits_global: bool, paths: tuple[str, ...] = ()
) -> Reason | None:  # type: ignore[no-untyped-def]
    if scope.level == "agent":
        return None if scope.agent == reader else Reason("scope", "another agent's")
    if scope.level == "global":
        return None if admits_global else Reason("scope-global-not-admitted", "global")
    return None if scope.repo == place.repo else Reason("scope", "another repository")
