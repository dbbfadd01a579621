"""A hundred children that hang, fork, daemonise, will not end: none is left, no output is lost, every digest is right."""

from __future__ import annotations

import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.forking import children
from tests.forking.conftest import on_linux

if TYPE_CHECKING:
    from tests.forking.conftest import Place

pytestmark = on_linux


@pytest.mark.slow
def test_of_a_hundred_children_none_is_left_and_no_output_is_lost(place: Place) -> None:
    draw = random.Random(20261130)
    kinds = [*children.HANGING, *children.ENDING] * 11 + ["loud"]
    draw.shuffle(kinds)
    programs = {**children.HANGING, **children.ENDING, "loud": children.LOUD}

    def one(kind: str) -> tuple[str, dict[str, object]]:
        limit = ("--limit-minutes", "0.02") if kind in children.HANGING else ()
        ran = place.python(kind, programs[kind], *limit, "--json", timeout=300)
        assert ran.stdout, ran
        return kind, ran.json

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(one, kinds))
    assert len(told) == 100
    for kind, found in told:
        assert found["reason"] == ("time-limit" if kind in children.HANGING else "exited"), found
        assert found["left"] == [], found
        assert found["sealed"] is not None, found
        assert place.run("forks", "verify", str(found["id"]), cwd=place.root).code == 0
    place.sound()
    assert len(place.run("forks", "--limit", "200", "--json", cwd=place.root).json["forks"]) == 100


@pytest.mark.parametrize("kind", children.ENDING)
def test_what_a_child_leaves_behind_ends_with_it(place: Place, kind: str) -> None:
    ran = place.python(kind, children.ENDING[kind], "--json")
    assert ran.code == 0, ran
    assert ran.json["killed"] == {"forking": 3, "daemon": 1, "cleared": 1}.get(kind, 0)
    place.sound()


@pytest.mark.parametrize("kind", children.HANGING)
def test_a_time_limit_ends_whatever_will_not_end(place: Place, kind: str) -> None:
    ran = place.python(kind, children.HANGING[kind], "--limit-minutes", "0.01", "--json")
    assert ran.code == 1
    assert ran.json["slug"] == "time-limit"
    assert ran.json["summary"], ran
    place.sound()


def test_a_process_that_is_always_a_new_one_is_caught(place: Place) -> None:
    ran = place.python("hopping", children.HOPPING, "--json")
    assert ran.json["left"] == [], ran
    place.sound()


def test_a_child_that_ends_while_a_grandchild_holds_its_output_is_not_waited_for(place: Place) -> None:
    ran = place.shell("holder", f"echo first; {sys.executable} -c '{children.SLEEP}' {place.mark} & exit 4", "--json")
    assert (ran.code, ran.json["exit"], ran.json["killed"]) == (1, 4, 1)
    assert ran.json["summary"] == ["first"]
    place.sound()


def test_a_fork_within_a_fork_ends_with_it(place: Place) -> None:
    inner = f"{sys.executable} -m indelible fork inner -- {sys.executable} -c '{children.SLEEP}' {place.mark}"
    ran = place.shell("outer", f"echo $INDELIBLE_FORK; {inner}", "--limit-minutes", "0.05", "--json")
    assert ran.json["reason"] == "time-limit"
    assert place.record("inner")["within"] == ran.json["id"]
    assert (
        place.run("forks", cwd=place.root).code == 0
    )  # which closes the inner one, whose supervisor was ended with the rest
    place.sound()


def test_two_forks_of_one_name_at_once_are_two(place: Place) -> None:
    both = [place.start("same", "sh", "-c", f"sleep 0.3; echo {number}") for number in (1, 2)]
    told = [json.loads(one.communicate(timeout=60)[0]) for one in both]
    assert [one["summary"] for one in told] == [["1"], ["2"]]
    assert told[0]["id"] != told[1]["id"]
    place.sound()
