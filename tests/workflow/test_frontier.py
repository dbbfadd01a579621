"""Where every target stands: by digests, in order, and exactly the dependants of what changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.workflow import frontier, stamp
from indelible.workflow.advice import counter_text, next_of
from indelible.workflow.frontier import Approval, Facts, Round, Standing, standings
from indelible.workflow.graph import Critic, ForkRules, Guard, Target, Workflow, ordered
from indelible.workflow.parsing import default_workflow
from indelible.workflow.stamp import Stamp, format_stamp, parse_stamp


def workflow_of(*targets: Target) -> Workflow:
    return Workflow(ordered(targets), Guard(), ForkRules(), Critic(("tests",)), "0" * 64)


@dataclass
class World:
    """Files by name, and what was said of targets: a checkout without a disk."""

    workflow: Workflow
    files: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def facts(self) -> Facts:
        return Facts(dict(self.files), dict(self.stamps), {})

    def standings(self) -> dict[str, Standing]:
        return {one.target.id: one for one in standings(self.workflow, self.facts())}

    def take(self, target: Target) -> None:
        """As the product takes a step: never one that is not permitted."""
        found = self.standings()
        assert found[target.id].is_permitted
        assert all(found[name].state == frontier.DONE for name in target.needs)
        inputs = {name: self.files.get(name, "") for name in target.inputs}
        needs = {
            name: frontier.product(self.workflow, self.facts(), self.workflow.target(name)) for name in target.needs
        }
        for name in target.outputs:
            self.files[name] = sha256(f"{name}{sorted(inputs.items())}{sorted(needs.items())}".encode()).hexdigest()
        outputs = {name: self.files[name] for name in target.outputs}
        self.stamps[target.id] = Stamp(
            target.id, stamp.DONE, target.definition, self.workflow.digest, inputs, needs, outputs, ""
        )
        self.ran.append(target.id)

    def take_all(self) -> list[str]:
        """Whatever is permitted, until nothing is; gives what ran."""
        self.ran = []
        while (about := next_of(standings(self.workflow, self.facts())).standing) is not None:
            self.take(about.target)
        return self.ran


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A graph of commands, each reading some files, and making one file or nothing."""
    size = draw(st.integers(1, 9))
    targets: list[Target] = []
    for number in range(size):
        needs = draw(st.sets(st.sampled_from(range(number)), max_size=3)) if number else set()
        sources = draw(st.sets(st.sampled_from("abcde"), max_size=3))
        inputs = [f"path:{name}" for name in sorted(sources)]
        drawn = [one for one in sorted(needs) if draw(st.booleans())]
        inputs += [f"path:out{one}" for one in drawn if targets[one].outputs]
        makes: bool = draw(st.booleans())
        outputs = (f"path:out{number}",) if makes else ()
        targets.append(
            Target(
                f"t{number}",
                f"name-{number}",
                tuple(f"t{one}" for one in sorted(needs)),
                tuple(inputs),
                outputs,
                ("true",),
            )
        )
    shuffled = draw(st.permutations(targets))
    return World(workflow_of(*shuffled), {f"path:{name}": sha256(name.encode()).hexdigest() for name in "abcde"})


@given(worlds())
def test_a_target_is_never_permitted_before_its_prerequisites(world: World) -> None:
    while True:
        found = world.standings()
        for one in found.values():
            if one.is_permitted:
                assert all(found[name].state in frontier.SATISFIED for name in one.target.needs)
        about = next_of(standings(world.workflow, world.facts())).standing
        if about is None:
            break
        world.take(about.target)
    assert all(one.state == frontier.DONE for one in world.standings().values())


@given(worlds())
def test_what_is_done_is_not_done_again(world: World) -> None:
    assert sorted(world.take_all()) == sorted(one.id for one in world.workflow.targets)
    assert world.take_all() == []


@given(worlds(), st.sampled_from("abcde"))
def test_a_changed_input_dirties_exactly_its_dependants(world: World, name: str) -> None:
    world.take_all()
    world.files[f"path:{name}"] = "f" * 64
    readers = {one.id for one in world.workflow.targets if f"path:{name}" in one.inputs}
    dependants = {one.id for one in world.workflow.targets if readers & (world.workflow.ancestors(one) | {one.id})}
    assert {name for name, one in world.standings().items() if one.state != frontier.DONE} == dependants
    assert {name for name, one in world.standings().items() if one.state == frontier.DIRTY} <= readers
    assert set(world.take_all()) == dependants


@given(worlds(), st.data())
def test_an_output_that_is_gone_or_was_edited_is_made_again(world: World, data: st.DataObject) -> None:
    world.take_all()
    made = sorted(name for one in world.workflow.targets for name in one.outputs)
    if not made:
        return
    name = data.draw(st.sampled_from(made))
    world.files[name] = data.draw(st.sampled_from(["", "e" * 64]))
    maker = next(one for one in world.workflow.targets if name in one.outputs)
    [reason] = world.standings()[maker.id].reasons
    assert reason.slug == ("output-changed" if world.files[name] else "output-gone")
    assert world.take_all() == [maker.id], "what it made is what it was: nobody behind it has anything to do"


@given(worlds())
def test_the_same_facts_have_the_same_answer(world: World) -> None:
    again = Workflow(*world.workflow)
    assert standings(world.workflow, world.facts()) == standings(again, world.facts())
    assert ordered(world.workflow.targets) == world.workflow.targets


@given(worlds())
def test_every_stamp_is_read_as_it_was_written(world: World) -> None:
    world.take_all()
    for one in world.stamps.values():
        assert parse_stamp(format_stamp(one)) == one


def test_an_early_cutoff_leaves_those_behind_alone() -> None:
    first = Target("a", "a", (), ("path:x",), ("path:out",), ("true",))
    second = Target("b", "b", ("a",), ("path:out",), (), ("true",))
    world = World(workflow_of(first, second), {"path:x": "1" * 64})
    world.take_all()
    world.files["path:x"] = "2" * 64
    assert world.standings()["b"].state == frontier.WAITING
    made = world.files["path:out"]
    world.take(first)
    world.files["path:out"] = made
    world.stamps["a"] = world.stamps["a"]._replace(outputs={"path:out": made})
    assert world.standings()["b"].state == frontier.DONE


def test_every_dirty_says_which_input_changed_from_which_digest_to_which() -> None:
    world = World(workflow_of(Target("a", "a", (), ("path:x",), (), ("true",))), {"path:x": "1" * 64})
    world.take_all()
    world.files["path:x"] = "2" * 64
    [reason] = world.standings()["a"].reasons
    assert reason.slug == "input-changed"
    assert "1" * 12 in reason.text
    assert "2" * 12 in reason.text
    world.files["path:x"] = ""
    assert world.standings()["a"].reasons[0].slug == "input-gone"


def test_a_stamp_of_another_graph_holds_while_the_target_itself_is_the_same() -> None:
    target = Target("a", "a", (), ("path:x",), (), ("true",))
    world = World(workflow_of(target), {"path:x": "1" * 64})
    world.take_all()
    world.workflow = workflow_of(target, Target("z", "z", (), (), (), ("true",)))._replace(digest="9" * 64)
    assert world.standings()["a"].state == frontier.DONE
    world.workflow = workflow_of(target._replace(run=("false",)))
    assert world.standings()["a"].reasons[0].slug == "definition-changed"


EFFECT = Target("a", "post", (), ("path:x",), (), ("post",), "", "posts a comment")


@pytest.mark.parametrize(
    ("state", "expected"), [("begun", "may-have-happened"), ("done", "done"), ("failed", "failed"), ("undone", "dirty")]
)
def test_a_step_with_effects_is_judged_by_its_last_stamp(state: str, expected: str) -> None:
    said = Stamp("a", state, EFFECT.definition, "", {"path:x": "1"}, {}, {}, "2026-01-01T00:00:00Z")
    [found] = standings(workflow_of(EFFECT), Facts({"path:x": "1"}, {"a": said}, {}))
    assert found.state == expected


def test_what_may_have_happened_stays_so_whatever_changes_behind_it() -> None:
    said = Stamp("a", "begun", "another", "", {"path:x": "1"}, {}, {}, "2026-01-01T00:00:00Z")
    [found] = standings(workflow_of(EFFECT), Facts({"path:x": "2"}, {"a": said}, {}))
    assert found.state == frontier.MAY_HAVE_HAPPENED
    assert "--did-not-happen" in next_of([found]).action


def test_a_step_without_effects_that_was_interrupted_is_simply_taken_again() -> None:
    plain = EFFECT._replace(effects="")
    said = Stamp("a", "begun", plain.definition, "", {"path:x": "1"}, {}, {}, "")
    [found] = standings(workflow_of(plain), Facts({"path:x": "1"}, {"a": said}, {}))
    assert (found.state, found.reasons[0].slug) == (frontier.DIRTY, "interrupted")


def test_what_cannot_be_looked_at_is_never_taken_for_done() -> None:
    target = Target("a", "a", (), ("path:x",), (), ("true",))
    said = Stamp("a", "done", target.definition, "", {"path:x": ""}, {}, {}, "")
    facts = Facts({"path:x": ""}, {"a": said}, {}, problems={"path:x": "it is a pipe"})
    [found] = standings(workflow_of(target), facts)
    assert not found.is_permitted
    assert "it is a pipe" in next_of([found]).action


def test_an_approval_that_runs_out_after_the_step_takes_nothing_back() -> None:
    ship = EFFECT._replace(gate="human")
    said = Stamp("a", "done", ship.definition, "", {"path:x": "1"}, {}, {}, "")
    late = {"post": Approval("r", ("it expired",))}
    [found] = standings(workflow_of(ship), Facts({"path:x": "1"}, {"a": said}, late))
    assert found.state == frontier.DONE
    [found] = standings(workflow_of(ship), Facts({"path:x": "2"}, {"a": said}, late))
    assert found.state == frontier.NEEDS_APPROVAL
    [found] = standings(workflow_of(ship), Facts({"path:x": "2"}, {"a": said}, {"post": Approval("s")}))
    assert found.state == frontier.DIRTY


def test_the_next_action_is_one_line_that_a_waking_agent_has_room_for() -> None:
    long = Target("a", "a", manual="word " * 390)
    action = next_of(standings(workflow_of(long), Facts({}, {}, {}))).action
    assert len(action) <= 900
    assert "\n" not in action


# The shipped workflow.

SLOTS = {
    "slot:00_governance.md": "0" * 64, "slot:10_ticket.md": "1" * 64, "slot:20_plan_approved.md": "2" * 64,
    "slot:30_critic_summary.md": "3" * 64,
}  # fmt: skip
CHANGE = "c" * 64
DEFAULT = default_workflow()


def facts_of(**members: object) -> Facts:
    """Everything is done, up to the approval of a change."""
    boot = DEFAULT.target("0")
    stamps = {"0": Stamp("0", "done", boot.definition, "", {boot.inputs[0]: SLOTS[boot.inputs[0]]}, {}, {}, "")}
    plain = Facts(
        {**SLOTS, "change": CHANGE, "head": "5" * 40}, stamps, {"approved-plan": Approval("p"), "approved-diff": Approval("r")},
        Round(1, CHANGE, approved=True),
    )  # fmt: skip
    return plain._replace(**members)  # type: ignore[arg-type]


def states(facts: Facts) -> dict[str, str]:
    return {one.target.id: one.state for one in standings(DEFAULT, facts)}


def test_an_approved_change_is_to_be_committed_next() -> None:
    found = standings(DEFAULT, facts_of())
    assert next_of(found).standing.target.id == "6"  # type: ignore[union-attr]
    assert next_of(found).last == "5 (approved-diff)"


def test_a_later_edit_makes_the_round_stale_and_the_approval_wait() -> None:
    facts = facts_of(digests={**facts_of().digests, "change": "d" * 64})
    found = {one.target.id: one for one in standings(DEFAULT, facts)}
    assert found["4"].state == frontier.NEEDS_CRITIC
    assert found["4"].reasons[0].slug == "review-stale"
    assert found["5"].state == found["6"].state == frontier.WAITING


def test_a_rejected_change_goes_back_to_whoever_makes_it() -> None:
    facts = facts_of(round=Round(2, CHANGE, approved=False))
    assert states(facts)["4"] == frontier.FAILED
    assert "critic add" in next_of(standings(DEFAULT, facts)).action


def test_a_receipt_that_does_not_fit_gives_its_reasons() -> None:
    facts = facts_of(
        approvals={**facts_of().approvals, "approved-diff": Approval("r", ("it expired", "another branch"))}
    )
    found = {one.target.id: one for one in standings(DEFAULT, facts)}["5"]
    assert found.state == frontier.NEEDS_APPROVAL
    assert [one.slug for one in found.reasons] == ["approval-void", "approval-void"]


@pytest.mark.parametrize(("used", "slugs"), [(False, ["prerequisite", "approval-void"]), (True, ["prerequisite"])])
def test_an_approval_that_became_void_is_told_while_its_target_waits(used: bool, slugs: list[str]) -> None:
    void = Approval("r", ("another tree",), used=used)
    facts = facts_of(round=None, approvals={**facts_of().approvals, "approved-diff": void})
    found = {one.target.id: one for one in standings(DEFAULT, facts)}["5"]
    assert (found.state, [one.slug for one in found.reasons]) == (frontier.WAITING, slugs)


def test_a_plan_that_nobody_approved_is_not_done_though_it_is_there() -> None:
    facts = facts_of(approvals={})
    assert states(facts)["2"] == frontier.NEEDS_APPROVAL
    assert states(facts)["3"] == frontier.WAITING


def test_after_the_commit_its_receipt_answers_for_the_change_until_the_next_one() -> None:
    digests = {**facts_of().digests, "change": ""}
    committed = facts_of(digests=digests, committed="r", approvals={"approved-plan": Approval("p")})
    assert [states(committed)[name] for name in "3456"] == ["done"] * 4
    assert states(committed)["7"] == frontier.DIRTY
    again = committed._replace(digests={**digests, "change": "d" * 64})
    assert states(again)["4"] == frontier.NEEDS_CRITIC
    assert states(again)["7"] == frontier.WAITING


def test_a_head_that_no_receipt_led_to_is_no_commit_of_what_was_approved() -> None:
    digests = {**facts_of().digests, "change": ""}
    found = states(facts_of(digests=digests))
    assert found["3"] == frontier.DIRTY
    assert found["6"] == frontier.WAITING


def test_a_commit_answers_for_nothing_before_the_ticket_has_its_plan() -> None:
    digests = {name: digest for name, digest in facts_of().digests.items() if "20_" not in name} | {"change": ""}
    assert states(facts_of(digests=digests, committed="r"))["3"] == frontier.WAITING


def test_triage_and_fix_are_asked_for_only_where_ci_failed() -> None:
    digests = {**facts_of().digests, "change": ""}
    committed = facts_of(digests=digests, committed="r")
    assert states(committed)["7a"] == states(committed)["7b"] == frontier.OPTIONAL
    target = DEFAULT.target("7")
    needs = {"6": frontier.product(DEFAULT, committed, DEFAULT.target("6"))}
    failed = Stamp("7", "failed", target.definition, "", {"head": digests["head"]}, needs, {}, "")
    after = committed._replace(stamps={**committed.stamps, "7": failed})
    assert [states(after)[name] for name in ("7", "7a", "7b", "8")] == ["failed", "dirty", "waiting", "waiting"]
    assert next_of(standings(DEFAULT, after)).standing.target.id == "7a"  # type: ignore[union-attr]


def test_the_program_counter_has_its_fields_and_keeps_what_stands_behind_note() -> None:
    from indelible.state.counter import parse_counter

    found = standings(DEFAULT, facts_of())
    before = b"# Next action\n\nCurrent Target: old\n\nNote: the tests are slow here\n- run only unit\nLast Completed Step: forged\n"
    text = counter_text(found, next_of(found), before)
    made = parse_counter(text)
    assert made.target == "6 (commit)"
    assert made.last == "5 (approved-diff)"
    assert len(made.steps) == len(DEFAULT.targets)
    assert b"Note: the tests are slow here\n- run only unit\n" in text
    assert b"forged" not in text
    assert counter_text(found, next_of(found), text) == text
