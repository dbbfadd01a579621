"""similarity, by the real command: what it says, what it refuses, what it remembers and what it draws."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.cli.hands import Kept, refused, said
from tests.serving import Served

import indelible
from indelible import settings, wiring
from indelible.comparing import compare
from indelible.comparing.crossing import Crossings
from indelible.comparing.gathering import gather
from indelible.comparing.running import history_path
from indelible.errors import UsageError

if TYPE_CHECKING:
    from tests.conftest import Run

SECRET = "배포 전에 반드시 체크섬을 확인하고 사령관의 승인을 받은 뒤에만 저장소로 푸시한다"
OWN = {
    "eros": f"# EROS\n\n- {SECRET}\n- the parser of dates is never touched on a Friday afternoon\n",
    "rudex": "# RUDEX\n\n- market data comes from the vendor at nine in the morning on every weekday of the year\n",
    "hermes": "# HERMES\n\n- mail goes out through the relay in Seoul and bounces are read twice a day by hand\n",
}


def save(run: Run, agent: str, text: str, key: str = "MEMORY.md", *options: str) -> None:
    ran = run("--agent", agent, "save", *options, "--", key, "-", input=text)
    assert ran.code == 0, ran


@pytest.fixture
def team(home: Path, run: Run) -> Kept:
    """Three agents with a MEMORY.md each."""
    assert run("init").code == 0
    for agent, text in OWN.items():
        save(run, agent, text)
    return Kept(run, home, home / "work", home / "data" / "indelible" / "store.db")


def contaminate(team: Kept) -> None:
    time.sleep(1.1)  # the log's times are whole seconds
    save(team.run, "rudex", f"{OWN['rudex']}- {SECRET}\n")


def pair_of(document: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    return next(one for one in document["pairs"] if (one["a"], one["b"]) == (a, b))


def history_of(team: Kept) -> Path:
    (found,) = (team.home / "state" / "indelible" / "similarity").glob("*.jsonl")
    return found


def test_a_first_look_has_no_past_and_says_so(team: Kept) -> None:
    ran = team.run("similarity")
    assert ran.code == 0, ran
    assert "3 agents, 3 memories" in ran.out
    assert "no past" in ran.out
    assert "Not calibrated" in ran.out


def test_a_passage_that_crossed_raises_an_alarm_and_is_named_with_who_had_it_first(team: Kept) -> None:
    assert said(team.run("similarity", "--json"))["slug"] == "compared"
    contaminate(team)
    ran = team.run("similarity")
    assert ran.code == 0, ran
    for words in (
        "eros had it first",
        "eros MEMORY.md version 1, byte 10,",
        "rudex MEMORY.md version 2, byte",
        "jumped to",
        SECRET,
    ):
        assert words in ran.out, ran.out
    document = said(team.run("similarity", "--json"))
    assert document["slug"] == "alarm"
    found = pair_of(document, "eros", "rudex")
    assert {one["measure"] for one in found["alarms"]} == {"a_in_b", "b_in_a"}
    (passage,) = found["passages"]
    assert passage["first"] == "eros"
    for side in ("a", "b"):
        place = passage[side]
        text = team.run("--agent", place["agent"], "load", place["key"]).stdout
        assert text[place["offset"] : place["offset"] + place["length"]].decode() == SECRET
    assert (passage["a"]["first_version"], passage["b"]["first_version"]) == (1, 2)


def test_no_text_of_a_memory_is_in_the_document_the_history_or_the_deliveries(team: Kept) -> None:
    team.run("similarity")
    contaminate(team)
    assert SECRET not in team.run("similarity", "--json").out
    assert SECRET in team.run("similarity", "--plot", "team.svg").out
    files = [team.work / "team.svg"]
    for folder in ("similarity", "deliveries"):
        files += (team.home / "state" / "indelible" / folder).iterdir()
    assert len(files) > 2
    assert [file for file in files if SECRET.encode() in file.read_bytes()] == []


def test_an_alarm_fails_only_where_that_is_asked_for(team: Kept) -> None:
    team.run("similarity")
    assert team.run("similarity", "--fail-on-alarm").code == 0
    contaminate(team)
    assert team.run("similarity").code == 0
    assert said(team.run("similarity", "--fail-on-alarm", "--json"))["slug"] == "alarm"
    assert team.run("similarity", "--fail-on-alarm").code == 1


def test_to_look_again_adds_nothing_to_the_past(team: Kept) -> None:
    for _ in range(3):
        team.run("similarity")
    assert len(history_of(team).read_bytes().splitlines()) == 3
    contaminate(team)
    for _ in range(3):
        assert said(team.run("similarity", "--json"))["slug"] == "alarm"
    lines = [json.loads(line) for line in history_of(team).read_bytes().splitlines()]
    assert len(lines) == 6
    assert {line["schema"] for line in lines} == {1}


def test_a_tampered_memory_is_a_finding_and_is_named_and_the_others_are_compared(team: Kept) -> None:
    contaminate(team)
    team.sql("UPDATE record SET content = ? WHERE CAST(content AS TEXT) LIKE ?", b"evil", "%HERMES%")
    ran = team.run("similarity")
    assert ran.code == 2
    assert "hermes" in ran.err
    assert "MEMORY.md" in ran.err
    assert "eros · rudex" in ran.out
    assert not (team.home / "state" / "indelible" / "similarity").exists()  # it makes no past
    document = said(team.run("similarity", "--json"))
    assert document["slug"] == "tampered"
    assert document["findings"][0]["agent"] == "hermes"
    assert pair_of(document, "eros", "rudex")["shared"] > 0


def test_a_rolled_back_store_is_tampering(team: Kept) -> None:
    old = team.copy()
    contaminate(team)
    team.run("similarity")
    team.put_back(old)
    assert team.run("similarity").code == 2


def test_one_agent_alone_is_compared_with_nobody(kept: Kept) -> None:
    ran = kept.run("similarity")
    assert ran.code == 0
    assert "it takes two to compare" in ran.out
    assert said(kept.run("similarity", "--json"))["slug"] == "alone"
    assert kept.run("similarity", "--plot", "alone.svg").code == 0
    ET.fromstring((kept.work / "alone.svg").read_bytes())


def test_an_agent_without_words_is_told_and_has_no_cosine(team: Kept) -> None:
    save(team.run, "mojo", "👍 …\n")
    save(team.run, "moojoco", "put away\n")
    assert team.run("--agent", "moojoco", "archive", "MEMORY.md").code == 0
    ran = team.run("similarity")
    assert ran.code == 0
    assert "mojo has no words to compare" in ran.out
    assert "moojoco has no words to compare" in ran.out
    document = said(team.run("similarity", "--json"))
    assert pair_of(document, "eros", "mojo")["cosine"] is None
    assert {one["agent"]: one["memories"] for one in document["agents"]}["moojoco"] == 0


def test_agents_can_be_chosen_and_one_that_is_not_there_is_not_found(team: Kept) -> None:
    document = said(team.run("similarity", "--agents", "rudex,eros", "--json"))
    assert [one["agent"] for one in document["agents"]] == ["eros", "rudex"]
    assert document["centred"] is False
    assert [
        one["agent"]
        for one in said(team.run("similarity", "--agents", "eros", "--agents", "hermes", "--json"))["agents"]
    ] == ["eros", "hermes"]
    refused(team.run("similarity", "--agents", "eros,nobody"), 3, "nobody")


def test_no_store_is_not_found(home: Path, run: Run) -> None:
    assert run("similarity").code == 3


def test_twenty_agents_are_compared_and_drawn(home: Path, run: Run) -> None:
    assert run("init").code == 0
    known = settings.load()
    for number in range(20):
        with wiring.open_memory(known, agent=f"한국어 이름이 긴 에이전트 제{number}호", create=True) as memory:
            memory.save(
                "MEMORY.md",
                f"에이전트 {number}의 일은 {' '.join(str(number * 100 + at) for at in range(30))}\n".encode(),
            )
    ran = run("similarity", "--plot", "team.svg")
    assert ran.code == 0, ran
    assert "and 160 pairs more" in ran.out
    ET.fromstring((home / "work" / "team.svg").read_bytes())
    first = (home / "work" / "team.svg").read_bytes()
    document = said(run("similarity", "--json"))
    assert len(document["pairs"]) == 190
    assert run("similarity", "--plot", "team.svg").code == 0
    assert len((home / "work" / "team.svg").read_bytes()) == len(first)


def test_a_picture_goes_nowhere_where_something_of_ours_is_kept(team: Kept) -> None:
    refused(team.run("similarity", "--plot", "picture.gif"), 64, "svg")
    refused(team.run("similarity", "--plot", str(team.home / "state" / "indelible" / "x.svg")), 6)


def test_a_png_is_drawn_or_it_is_said_what_to_install(team: Kept) -> None:
    ran = team.run("similarity", "--plot", "team.png")
    if ran.code:
        refused(ran, 1, "pip install 'indelible[plot]'")
    else:
        assert (team.work / "team.png").read_bytes().startswith(b"\x89PNG")


def test_a_history_that_was_cut_is_told_and_goes_on(team: Kept) -> None:
    team.run("similarity")
    file = history_of(team)
    file.write_bytes(file.read_bytes()[:-20])
    contaminate(team)
    ran = team.run("similarity")
    assert ran.code == 0
    assert "was cut" in ran.err
    assert len([line for line in file.read_bytes().splitlines() if line.endswith(b"}")]) == 5


def test_a_held_memory_is_compared_and_its_text_is_not_shown(team: Kept) -> None:
    team.run("similarity")
    time.sleep(1.1)
    text = "the launch codes of the moon base are kept in the blue drawer behind the coffee machine of the office"
    for agent in ("eros", "rudex"):
        save(team.run, agent, text, "note", "--origin", "tool", "--expires", "2100-01-01")
    for agent in ("eros", "rudex"):
        assert team.run("--agent", agent, "load", "note").code == 4
    ran = team.run("similarity")
    assert "both memories are held" in ran.out, ran
    assert "moon base" not in ran.out


def test_what_is_shown_of_a_passage_is_in_the_deliveries(team: Kept) -> None:
    contaminate(team)
    team.run("similarity", "--json")
    assert said(team.run("--agent", "eros", "deliveries", "--door", "similarity", "--json"))["deliveries"] == []
    assert SECRET in team.run("similarity").out
    (line,) = said(team.run("--agent", "eros", "deliveries", "--door", "similarity", "--json"))["deliveries"]
    assert line["key"] == "MEMORY.md"


def test_what_a_terminal_would_obey_is_shown_escaped(team: Kept) -> None:
    words = "\x1b[31m the \u202e quick brown fox jumps over the lazy dog near the river bank today"
    for agent in ("eros", "rudex"):
        save(team.run, agent, words, "fox\x1b[2J")
    ran = team.run("similarity")
    assert "quick brown fox" in ran.out
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


def test_agents_are_completed(team: Kept) -> None:
    def offered(words: str) -> set[str]:
        env = {
            "_INDELIBLE_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        return {line.partition(",")[2] for line in team.run(env=env).out.splitlines()}

    assert offered("indelible similarity --agents ") == {"eros", "rudex", "hermes"}
    assert offered("indelible similarity --agents eros,h") == {"eros,hermes"}


def test_the_place_of_the_passage_is_right_where_the_text_is_decomposed(team: Kept) -> None:
    save(team.run, "rudex", "가나 " + unicodedata.normalize("NFD", SECRET) + " 끝", "nfd")
    (passage,) = pair_of(said(team.run("similarity", "--json")), "eros", "rudex")["passages"]
    text = team.run("--agent", "rudex", "load", "nfd").stdout
    place = passage["b"]
    assert text[place["offset"] : place["offset"] + place["length"]].decode() == unicodedata.normalize("NFD", SECRET)


def test_the_library_compares_with_a_model_under_its_name(team: Kept) -> None:
    known = settings.load()
    report = compare(
        known, now="2026-11-30T00:00:00Z", embed=lambda texts: np.ones((len(texts), 3), np.float32), embedder="ones@1"
    )
    assert report.vectors == "ones@1"
    assert {one.vectors for one in report.history} == {"ones@1"}
    assert b"ones@1" in Path(history_path(known)).read_bytes()

    with pytest.raises(UsageError, match="without a name"):
        compare(known, now="2026-11-30T00:00:00Z", embed=lambda texts: np.ones((len(texts), 3), np.float32))
    assert indelible.similarity(["eros", "rudex"]).as_dict()["vectors"] == "ngrams/1"


def test_an_agent_that_cannot_be_read_is_told_and_the_others_are_compared(team: Kept) -> None:
    keys = team.home / "config" / "indelible" / "known"
    team.run("similarity")
    with wiring.open_memory(settings.load(), agent="hermes") as memory:
        path = Path(memory.follower.path)
    for side in ("", "-wal", "-shm"):
        Path(f"{path}{side}").unlink(missing_ok=True)
    assert (keys / path.stem).exists()
    ran = team.run("similarity")
    assert ran.code == 1, ran
    assert "hermes was not compared" in ran.err
    assert "eros · rudex" in ran.out
    document = said(team.run("similarity", "--json"))
    assert document["slug"] == "partly"
    assert document["unread"][0]["agent"] == "hermes"
    refused(team.run("similarity", "--agents", "eros,hermes"), 1)


def test_of_a_server_the_agents_are_named_and_read_with_their_own_keys(home: Path, run: Run, tmp_path: Path) -> None:
    served = Served(tmp_path / "server", {}).start()
    try:
        env = {"INDELIBLE_STORE": served.url}
        folder = home / "config" / "indelible" / "api-keys"
        folder.mkdir(parents=True)
        for agent in ("eros", "rudex"):
            (folder / f"{agent}.key").write_text(served.key(agent))
            (folder / f"{agent}.key").chmod(0o600)
            assert run("--agent", agent, "save", "MEMORY.md", "-", input=OWN["eros"], env=env).code == 0
        refused(run("similarity", env=env), 64, "--agents")
        found = pair_of(said(run("similarity", "--agents", "eros,rudex", "--json", env=env)), "eros", "rudex")
        assert found["a_in_b"] == 1
        refused(run("similarity", "--agents", "eros,hermes", env=env), 64, "hermes")
        (folder / "hermes.key").write_text(served.key("rudex"))
        (folder / "hermes.key").chmod(0o600)
        assert run("similarity", "--agents", "eros,hermes", env=env).code == 1
    finally:
        served.stop()


def test_passages_that_are_newer_than_the_last_look_come_first(team: Kept) -> None:
    known = settings.load()
    gathered = gather(known, ("eros", "rudex"), named=True, embed=None, advance=lambda _done, _all: None)
    with Crossings(known, gathered) as crossings:
        assert crossings.between("eros", "rudex", limit=5) == ((), 0)
        assert crossings.between("eros", "rudex", limit=0) == ((), 0)
