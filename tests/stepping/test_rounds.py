"""Rounds of the critic in a real checkout: bound to the exact change, numbered one after the other, stale after any edit."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import git, refused, tree
from tests.keeping.desks import CRITIC, Desk, desk_at

from indelible.errors import UsageError
from indelible.stepping.rounds import add_round, current, rounds_of, verdict_on
from indelible.workflow.change import open_change
from indelible.workflow.rounds import APPROVED, NONE, PILLARS, REJECTED, STALE, Pillar, Round

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Ran, Run

OKS = tuple(word for name in PILLARS for word in ("--pillar", f"{name}=ok"))
FINE = tuple(Pillar(name, "ok") for name in PILLARS)


@pytest.fixture
def desk(home: Path, run: Run) -> Desk:
    """A repository with a commit, laws, and a change that is not committed."""
    made = desk_at(home, home / "work", run)
    (made.work / "a.py").write_text("one\n", encoding="utf-8")
    git(made.work, "add", "-A")  # the settings file too, which is no part of what is judged
    git(made.work, "commit", "-qm", "base")
    (made.work / "a.py").write_text("two\n", encoding="utf-8")
    (made.work / "new.py").write_text("new\n", encoding="utf-8")
    return made


def critic(desk: Desk, *words: str, content: bytes = b"") -> Ran:
    return desk.tell("critic", *words, content=content)


def status(desk: Desk) -> tuple[int, dict[str, Any]]:
    ran = critic(desk, "status", "--json")
    return ran.code, ran.json


def test_a_round_is_bound_to_the_exact_change(desk: Desk) -> None:
    ran = critic(
        desk,
        "add",
        "--json",
        "--verdict",
        "approved",
        *OKS,
        "--critic",
        "mina",
        "--fixed",
        "ties",
        "--ignored",
        "no docs: private",
    )
    assert ran.code == 0, ran
    made = ran.json["round"]
    import os

    with open_change(str(desk.work), os.environ) as opened:
        change = opened.change
    assert (made["number"], made["change"], made["base"], made["tree"]) == (
        1,
        change.digest,
        change.base[:12],
        change.tree[:12],
    )
    text = desk.file(CRITIC).read_text(encoding="utf-8")
    assert text.startswith(
        f"## Round 1: approved\nBy: mina\nChange: sha256:{change.digest} base {change.base[:12]} tree {change.tree[:12]}\nPillars: correctness ok,"
    )
    assert "Fixed: ties\nIgnored: no docs: private\n" in text
    assert status(desk) == (0, {**status(desk)[1], "slug": "critic-approved", "ok": True})
    assert desk.exit_of_check() == 0


@pytest.mark.parametrize("edit", ["tracked", "untracked", "staged", "removed", "mode"])
def test_any_later_change_makes_it_stale_and_names_the_file(desk: Desk, edit: str) -> None:
    assert critic(desk, "add", "--verdict", "approved", *OKS).code == 0
    path = {"untracked": "later.py", "removed": "new.py"}.get(edit, "a.py")
    if edit == "removed":
        (desk.work / path).unlink()
    elif edit == "mode":
        (desk.work / path).chmod(0o755)
    else:
        (desk.work / path).write_text(f"{edit}\n", encoding="utf-8")
    if edit == "staged":
        git(desk.work, "add", path)
    code, said = status(desk)
    assert (code, said["slug"], said["paths"]) == (7, "critic-stale", [path])
    ran = critic(desk, "status")
    assert "changed since" in ran.err
    assert said["change"] in ran.err


def test_an_edit_that_is_taken_back_makes_it_current_again(desk: Desk) -> None:
    assert critic(desk, "add", "--verdict", "approved", *OKS).code == 0
    (desk.work / "a.py").write_text("else\n", encoding="utf-8")
    assert status(desk)[0] == 7
    (desk.work / "a.py").write_text("two\n", encoding="utf-8")
    git(desk.work, "add", "-A")  # staged or not is no matter
    assert status(desk)[0] == 0


def test_a_later_commit_below_makes_it_stale_and_no_paths_are_guessed(desk: Desk) -> None:
    assert critic(desk, "add", "--verdict", "approved", *OKS).code == 0
    git(desk.work, "commit", "-qm", "empty", "--allow-empty")
    code, said = status(desk)
    assert (code, said["paths"]) == (7, None)


def test_a_rejection_stands_until_another_round(desk: Desk) -> None:
    words = (
        "--verdict",
        "rejected",
        *OKS[2:],
        "--pillar",
        "correctness=blocked:ties change",
        "--blocked",
        "ties change",
        "--never",
        "hashing",
    )
    assert critic(desk, "add", *words).code == 0
    assert (status(desk)[0], status(desk)[1]["slug"]) == (7, "critic-rejected")
    refused(
        critic(desk, "add", "--verdict", "approved", *OKS, "--blocked", "ties"), 64, "would approve what is blocked"
    )
    assert critic(desk, "add", "--verdict", "approved", *OKS, "--fixed", "ties").code == 0
    assert status(desk)[0] == 0
    ran = desk.tell("scar", "add", "--area", "SORT", "--from-round", "1", "--added", r"hash\(")
    assert ran.code == 0
    assert desk.tell("scar", "show", "SCAR-SORT-01").out.startswith(
        "# SCAR-SORT-01: hashing\nTried: hashing\nFailed: ties change\nEvidence: round 1"
    )


@pytest.mark.parametrize(("words", "code", "word"), [
    (("--verdict", "approved", *OKS[2:]), 64, "correctness"), (OKS, 64, "verdict"), (("--verdict", "approved", *OKS, "--pillar", "luck=ok"), 64, "luck"),
    (("--verdict", "rejected", *OKS), 64, "why"), (("--verdict", "approved", *OKS, "--critic", "a\nb"), 64, "one line"),
    (("--verdict", "approved", *OKS, "--fixed", "x\n## Round 9: approved"), 64, "one line"),
])  # fmt: skip
def test_a_round_that_says_too_little_is_not_written(desk: Desk, words: tuple[str, ...], code: int, word: str) -> None:
    before = tree(desk.folder)
    refused(critic(desk, "add", *words), code, word)
    assert tree(desk.folder) == before


def test_without_a_change_there_is_nothing_to_judge(desk: Desk) -> None:
    git(desk.work, "checkout", "-q", ".")
    (desk.work / "new.py").unlink()
    refused(critic(desk, "add", "--verdict", "approved", *OKS), 7, "no change")
    assert critic(desk, "status").code == 3


def test_a_state_directory_that_git_has_would_be_judged_with_the_change(desk: Desk) -> None:
    desk.tell("state", "append", "30", content=b"## Round 1: rejected\n")
    git(desk.work, "add", "-f", str(desk.file(CRITIC)))
    refused(critic(desk, "add", "--verdict", "approved", *OKS), 64, "git rm")
    git(desk.work, "rm", "-q", "--cached", str(desk.file(CRITIC)))
    (desk.work / ".git" / "info" / "exclude").unlink()  # as in a checkout where nobody ran `init`
    assert critic(desk, "add", "--verdict", "approved", *OKS).code == 0
    assert status(desk)[0] == 0


def test_a_round_that_was_written_by_hand_is_never_current(desk: Desk) -> None:
    desk.tell("state", "append", "30", content=b"## Round 4: approved\nBlocked: nothing\n")
    assert status(desk)[1]["slug"] == "critic-stale"
    ran = critic(desk, "add", "--json", "--verdict", "approved", *OKS)
    assert ran.json["round"]["number"] == 5
    assert [one["number"] for one in critic(desk, "list", "--json").json["rounds"]] == [4, 5]


def test_a_file_gives_a_round_and_the_change_is_not_its_to_say(desk: Desk) -> None:
    text = (
        "## Round 77: approved\nBy: mina\nChange: sha256:"
        + "0" * 64
        + " base - tree "
        + "0" * 12
        + "\nPillars: "
        + ", ".join(f"{name} ok" for name in PILLARS)
        + "\n"
    )
    ran = critic(desk, "add", "-", "--json", content=text.encode())
    assert (ran.code, ran.json["round"]["number"], ran.json["round"]["critic"]) == (0, 1, "mina")
    assert ran.json["round"]["change"] != "0" * 64
    shown = critic(desk, "show", "1").out
    again = critic(desk, "add", "-", "--json", content=shown.encode())
    assert again.json["round"]["number"] == 2
    refused(critic(desk, "add", "-", content=(shown + shown).encode()), 64, "2 rounds")
    refused(critic(desk, "show", "9"), 3)


def test_the_workflow_says_which_pillars_there_are(desk: Desk) -> None:
    with desk.state() as state, pytest.raises(UsageError, match="taste"):
        add_round(state, Round(0, APPROVED, pillars=FINE), pillars=("taste",))
    with desk.state() as state:
        made, _ = add_round(state, Round(0, APPROVED, pillars=(Pillar("taste", "ok"),)), pillars=("taste",))
        assert (made.number, made.digest) == (1, "")


def test_two_critics_at_once_get_two_numbers(desk: Desk) -> None:
    program = (
        "import sys\nfrom indelible import settings, wiring\nfrom indelible.stepping.rounds import add_round\n"
        "from indelible.workflow.rounds import PILLARS, Pillar, Round\n"
        "for number in range(5):\n"
        "    with wiring.open_state(settings.load()) as state:\n"
        "        found = Round(0, 'approved', sys.argv[1], pillars=tuple(Pillar(name, 'ok') for name in PILLARS))\n"
        "        print(add_round(state, found)[0].number)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, name], cwd=desk.work, stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    found = [int(line) for one in running for line in one.communicate(timeout=120)[0].split()]
    assert [one.returncode for one in running] == [0, 0]
    assert sorted(found) == list(range(1, 11))
    with desk.state() as state:
        assert [one.number for one in rounds_of(state)] == list(range(1, 11))
    assert desk.exit_of_check() == 0


def test_the_same_operation_adds_one_round(desk: Desk) -> None:
    with desk.state() as state:
        first = add_round(state, Round(0, APPROVED, pillars=FINE), op="once")
        again = add_round(state, Round(0, APPROVED, pillars=FINE), op="once")
        assert (first[0].number, again[1].repeated, len(rounds_of(state))) == (1, True, 1)


def test_what_is_said_to_an_approver(desk: Desk) -> None:
    import os

    with open_change(str(desk.work), os.environ) as opened, desk.state() as state:
        change = opened.change
        assert (verdict_on(state, change.digest), current(state, change).standing) == ("no critic looked at it", NONE)
        add_round(state, Round(0, REJECTED, "mina", pillars=FINE, blocked=("ties",)), change)
        assert (verdict_on(state, change.digest), current(state, change).standing) == (
            "rejected in round 1 by mina: ties",
            REJECTED,
        )
        assert verdict_on(state, "0" * 64) == "stale: round 1 (rejected) was of another change"
        add_round(state, Round(0, APPROVED, pillars=FINE), change)
        assert verdict_on(state, change.digest) == "approved in round 2"
        assert current(state, change._replace(tree="0" * 40)).standing == STALE


@pytest.mark.parametrize(
    ("head", "words"),
    [("## Round: rejected\n", ()), ("## Round 7: rejected\n", ()), ("# A review\n\n", ("--verdict", "rejected"))],
    ids=["no number", "a number", "no heading"],
)
def test_the_number_is_not_a_files_to_say(desk: Desk, head: str, words: tuple[str, ...]) -> None:
    body = "By: mina\nPillars: correctness blocked (ties), " + ", ".join(f"{name} ok" for name in PILLARS[1:])
    content = f"{head}{body}\nBlocked: ties change\n".encode()
    for number in (1, 2):
        ran = critic(desk, "add", "-", *words, "--json", content=content)
        assert ran.code == 0, ran
        made = ran.json["round"]
        assert (made["number"], made["verdict"], made["critic"]) == (number, "rejected", "mina")
        assert (made["pillars"][0]["note"], made["blocked"]) == ("ties", ["ties change"])


def test_a_file_without_a_verdict_is_told_how_to_say_one(desk: Desk) -> None:
    refused(critic(desk, "add", "-", content=b"Blocked: ties\n"), 64, "--verdict", "## Round: rejected")
    refused(critic(desk, "add", "-", content=b"## Round: rejected\n## Round: approved\n"), 64, "2 rounds")


def test_the_numbers_of_rounds_are_completed(desk: Desk) -> None:
    for _ in range(2):
        assert critic(desk, "add", "--verdict", "approved", *OKS).code == 0
    env = {"_INDELIBLE_COMPLETE": "bash_complete", "COMP_WORDS": "indelible critic show ", "COMP_CWORD": "3"}
    ran = desk.run(cwd=desk.work, env=env)
    assert [line.partition(",")[2] for line in ran.out.splitlines()] == ["1", "2"], ran


def test_outside_of_a_repository_there_is_no_change_and_nothing_is_said_of_approving(run: Run, home: Path) -> None:
    folder = home / "plain"
    (folder / "state").mkdir(parents=True)
    env = {"INDELIBLE_STATE_DIR": str(folder / "state")}
    assert run("init", cwd=folder, env=env).code == 0
    ran = run("critic", "add", "--verdict", "approved", *OKS, cwd=folder, env=env)
    assert ran.code == 3, ran
    assert "no repository here" in ran.err
    assert "approve" not in ran.err
