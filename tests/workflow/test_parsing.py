"""The text of the workflow: what is understood, and what is refused with file, line, member and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indelible.errors import IndelibleError, NotFoundError, UsageError
from indelible.workflow.default import DEFAULT
from indelible.workflow.graph import GraphWrong
from indelible.workflow.parsing import MOST_BYTES, default_workflow, parse_workflow

if TYPE_CHECKING:
    from indelible.workflow.graph import Workflow

HUMAN = '[[target]]\nid = "ok"\nname = "approved-diff"\ngate = "human"\nmanual = "look"\n'


def target(name: str, *lines: str) -> str:
    """One `[[target]]` that a command does."""
    command = [] if any(line.startswith(("run", "manual")) for line in lines) else ['run = "true"']
    return "\n".join(["[[target]]", f'id = "{name}"', f'name = "t-{name}"', *command, *lines, ""])


def parse(*parts: str) -> Workflow:
    return parse_workflow(("".join(parts) + HUMAN).encode(), ".indelible/workflow.toml")


def refused(*parts: str) -> IndelibleError:
    with pytest.raises((UsageError, GraphWrong)) as caught:
        parse(*parts)
    assert str(caught.value).startswith(".indelible/workflow.toml")
    assert caught.value.remedy
    return caught.value


def test_the_default_has_the_targets_of_the_seed_and_four_of_them_fork() -> None:
    workflow = default_workflow()
    assert [(one.id, one.name) for one in workflow.targets] == [
        ("0", "read-init-d"), ("1", "ticket"), ("2", "approved-plan"), ("3", "implementation-diff"), ("4", "critic"),
        ("5", "approved-diff"), ("6", "commit"), ("7", "ci"), ("7a", "triage"), ("7b", "fix"), ("8", "close"),
    ]  # fmt: skip
    assert [one.id for one in workflow.targets if one.fork] == ["2", "3", "4", "7a"]
    assert len(workflow.critic.pillars) == 6
    assert workflow.guard.receipt == "approved-diff"
    assert not workflow.fork.refuse_heavy


def test_a_target_is_named_by_its_id_or_its_name() -> None:
    workflow = default_workflow()
    assert workflow.target("5") == workflow.target("approved-diff")
    with pytest.raises(NotFoundError) as caught:
        workflow.target("aproved-diff")
    assert "approved-diff" in caught.value.remedy


def test_a_line_that_is_no_toml_is_named() -> None:
    error = refused('[guard]\nbranches = ["*"\n')
    assert error.facts["line"] in (2, 3)
    assert "TOML" in error.message


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ('colour = "red"\n', 1, "colour"),
        ("[guard]\nprotected = ['main']\nbranch = ['x']\n", 3, "branches"),
        ("[fork]\nrefuse_heavy = 'yes'\n", 2, "refuse_heavy"),
        ("[fork]\nmost_files = 0\n", 2, "most_files"),
        ("[fork]\nmost_files = true\n", 2, "most_files"),
        ("[critic]\npillars = []\n", 2, "pillars"),
        ("[critic]\npillars = ['tests', 'tests']\n", 2, "pillars"),
        ("[critic]\npillars = ['Two words']\n", 2, "pillars"),
        ("[guard]\nreceipt = 'nobody'\n", 2, "receipt"),
        ("[guard.commands]\n'gh pr merge' = 'nobody'\n", 2, "gh pr merge"),
        ("[guard]\nbranches = 'main'\n", 2, "branches"),
        (target("a", "inputs = ['path:../x']"), 5, "leads out"),
        (target("a", "inputs = ['path:/etc/passwd']"), 5, "leads out"),
        (target("a", "inputs = ['glob:a/../../b/*']"), 5, "leads out"),
        (target("a", "inputs = ['path:C:/x']"), 5, "leads out"),
        (target("a", "inputs = ['path:a\\\\b']"), 5, "leads out"),
        (target("a", "inputs = ['path:.git/config']"), 5, "not part"),
        (target("a", "outputs = ['path:.indelible/state/x']"), 5, "not part"),
        (target("a", "inputs = ['file:x']"), 5, "names nothing"),
        (target("a", "inputs = ['slot:ticket']"), 5, "slot"),
        (target("a", "inputs = ['path:x', 'path:x']"), 5, "twice"),
        (target("a", "outputs = ['glob:*.o']"), 5, "path:FILE"),
        (target("a", "outputs = ['tree']"), 5, "tree"),
        (target("a", "gate = 'robot'"), 5, "gate"),
        (target("a", "when = 'b sometimes'"), 5, "when"),
        (target("a", "when = 'b failed'"), 5, "no such target"),
        (target("a", "needs = ['b']"), 5, "no such target"),
        (target("a", "needs = 'b'"), 5, "no list"),
        (target("a", "run = ''"), 4, "run"),
        (target("a", "run = []"), 4, "run"),
        (target("a", "run = ['x', 3]"), 4, "run"),
        (target("a", "run = 'x'", "manual = 'y'"), 5, "manual"),
        (target("a", "manual = 'two\\nlines'").replace("'", '"'), 4, "manual"),
        (target("a", "colour = 'red'"), 5, "colour"),
        (target("a", "ned = ['b']"), 5, "needs"),
        (target("a") + target("a"), 6, "another target"),
        (target("a") + target("A").replace("t-A", "t-b"), 6, "another target"),
        (target("a") + '[[target]]\nid = "b"\nname = "t-a"\nrun = "x"\n', 7, "another target"),
        ('[[target]]\nname = "x"\nrun = "y"\n', 1, "id"),
        ('[[target]]\nid = "x"\nrun = "y"\n', 1, "name"),
        ('[[target]]\nid = "a b"\nname = "x"\nrun = "y"\n', 2, "id"),
        ('[[target]]\nid = "x"\nname = "all"\nrun = "y"\n', 3, "name"),
        ('[[target]]\nid = "x"\nname = "x-y"\n', 1, "run"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_line_and_member(text: str, line: int, word: str) -> None:
    error = refused(text)
    assert error.facts["line"] == line, error.message
    assert word in f"{error.message} {error.remedy}", str(error)


@pytest.mark.parametrize(
    "parts",
    [
        (target("a", "needs = ['b']"), target("b", "needs = ['a']")),
        (target("a", "needs = ['nobody']"),),
        (target("a", "when = 'nobody failed'"),),
        (target("a") + target("a"),),
        (target("a", "outputs = ['path:x']"), target("b", "outputs = ['path:x']")),
        (target("a", "outputs = ['path:x']"), target("b", "inputs = ['path:x']")),
        ("[guard]\nreceipt = 'nobody'\n",),
        ("[guard.commands]\n'gh pr merge' = 'nobody'\n",),
    ],
    ids=["circle", "no prerequisite", "no condition", "twice", "two makers", "not behind", "no receipt", "no command"],
)
def test_how_targets_stand_to_one_another_is_a_wrong_graph_and_no_wrong_word(parts: tuple[str, ...]) -> None:
    error = refused(*parts)
    assert (error.slug, error.exit_code) == ("graph-wrong", 7)


def test_a_word_that_is_not_understood_is_a_wrong_word_and_no_wrong_graph() -> None:
    for text in ("[guard\n", "colour = 'red'\n", target("a", "gate = 'robot'"), target("a", "needs = 'b'")):
        assert refused(text).exit_code == 64


def test_a_workflow_that_no_human_stands_in_says_that_no_commit_needs_a_receipt() -> None:
    with pytest.raises(GraphWrong) as caught:
        parse_workflow(target("a").encode())
    assert 'receipt = ""' in caught.value.remedy
    made = parse_workflow(("[guard]\nreceipt = ''\n" + target("a")).encode())
    assert (made.guard.receipt, made.guard.branches, made.guard.protected) == ("", (), ())
    made = parse("[guard]\nreceipt = ''\nbranches = []\n", target("a"))
    assert (made.guard.receipt, made.guard.branches) == ("", ())


@pytest.mark.parametrize("rest", ["branches = ['*']\n", "protected = ['main']\n"])
def test_no_branch_is_guarded_by_a_receipt_that_there_is_not(rest: str) -> None:
    error = refused(f"[guard]\nreceipt = ''\n{rest}", target("a"))
    assert error.exit_code == 7
    assert error.facts["line"] == 3


def test_no_commit_is_made_by_a_target_where_none_is_approved() -> None:
    error = refused("[guard]\nreceipt = ''\n", target("a", "outputs = ['head']"))
    assert (error.exit_code, error.facts["line"]) == (7, 2)


def test_a_cycle_names_its_path() -> None:
    error = refused(target("a", "needs = ['c']"), target("b", "needs = ['a']"), target("c", "needs = ['b']"))
    assert "a -> c -> b -> a" in error.message


def test_a_condition_takes_part_in_a_cycle() -> None:
    error = refused(target("a", "when = 'b failed'"), target("b", "needs = ['a']"))
    assert "a -> b -> a" in error.message


def test_a_target_that_needs_itself_is_a_cycle() -> None:
    assert "a -> a" in refused(target("a", "needs = ['a']")).message


def test_two_targets_may_not_make_one_thing() -> None:
    error = refused(target("a", "outputs = ['path:x']"), target("b", "outputs = ['path:x']"))
    assert "a (t-a) makes too" in error.message


def test_who_reads_what_another_makes_comes_behind_it() -> None:
    error = refused(target("a", "outputs = ['path:src/x.py']"), target("b", "inputs = ['glob:src/**/*.py']"))
    assert 'needs = ["a"]' in error.remedy
    made = parse(
        target("a", "outputs = ['path:src/x.py']"), target("b", "inputs = ['glob:src/**/*.py']", "needs = ['t-a']")
    )
    assert made.target("b").needs == ("a",)


def test_no_target_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="no target"):
        parse_workflow(b"[guard]\n")


def test_too_much_is_refused() -> None:
    with pytest.raises(UsageError, match="limit"):
        parse_workflow(b"#" * (MOST_BYTES + 1))
    refused(*(target(f"x{number}") for number in range(201)))
    refused(target("a", f"inputs = {[f'path:{number}' for number in range(101)]}"))
    refused(target("a", f"manual = '{'x' * 2001}'"))
    refused("x = " + "[" * 3000)


def test_bytes_that_are_no_utf8_are_named_by_their_line() -> None:
    with pytest.raises(UsageError) as caught:
        parse_workflow(b"# fine\n\n# \xff\n")
    assert caught.value.facts["line"] == 3


def test_those_that_could_come_next_come_in_the_order_in_which_they_were_written() -> None:
    made = parse(target("z"), target("y", "needs = ['a']"), target("b"), target("a"))
    assert [one.id for one in made.targets] == ["z", "b", "a", "y", "ok"]


def test_a_text_is_a_command_of_the_shell_and_a_list_is_its_words() -> None:
    made = parse(target("a", "run = 'make test | tail'"), target("b", "run = ['make', 'test']"))
    assert made.target("a").run == ("sh", "-c", "make test | tail")
    assert made.target("b").run == ("make", "test")


def test_words_for_people_are_no_part_of_a_definition() -> None:
    first = parse(target("a", "manual = 'x'", "effects = 'posts'")).target("a")
    second = parse(target("a", "manual = 'y'", "effects = 'publishes'")).target("a")
    third = parse(target("a", "manual = 'y'")).target("a")
    assert first.definition == second.definition != third.definition


def test_the_default_is_the_text_that_is_written() -> None:
    assert parse_workflow(DEFAULT.encode()) == default_workflow()
