"""A person's yes is bound to what was shown, is nobody else's to give, and serves once."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import threading
from contextlib import suppress
from select import select
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import refused, tree
from tests.conftest import environment, indelible_command
from tests.stepping.sites import LATER, PASSPHRASE, PLAN, TICKET, Site, site_at

from indelible import settings, wiring
from indelible.errors import ConflictError
from indelible.stepping import approvals, receipts
from indelible.stepping.approving import take_up
from indelible.stepping.desk import open_desk
from indelible.workflow.receipt import open_receipt, parse_receipt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Run

    from indelible.workflow.frontier import Approval


MINE = b"# Next action\n\nCurrent Target: mine\nLast Completed Step: none\nNext Permitted Action: rest\n"


def receipt_of(site: Site, identity: str) -> bytes:
    return (site.top / ".indelible" / "receipts" / f"{identity}.receipt").read_bytes()


def test_a_receipt_names_the_tree_that_git_commits(site: Site) -> None:
    site.ready()
    receipt = parse_receipt(receipt_of(site, site.approved()))
    assert receipt.base == site.git("rev-parse", "HEAD").strip()
    site.git("add", "-A")
    assert receipt.tree == site.git("write-tree").strip()
    assert receipt.branch == "refs/heads/main"
    assert [name for name, _ in receipt.inputs] == ["slot:30_critic_summary.md"]


def test_the_key_of_the_approver_signs_and_the_log_says_so(site: Site) -> None:
    site.ready()
    identity = site.approved()
    keys = wiring.KeyFolder(wiring.keystore(settings.load(site.top))).approvers()
    _, signer = open_receipt(receipt_of(site, identity), keys)
    assert signer == "indelible-approver/mina"
    events = site.said("history", f"flow/receipt/{identity}")["entries"]
    assert [one["type"] for one in events] == ["receipt-issued", "saved"]
    assert site.tell("audit").code == 0


def test_what_is_shown_has_every_file_and_the_untracked_ones_marked(site: Site) -> None:
    site.ready()
    shown = site.tell("approve", "--show")
    assert shown.code == 0
    for word in ("a.txt", "deep/new.txt", "untracked", "+new", "-one", "critic", "approved in round 1"):
        assert word in shown.out, shown.out
    document = site.said("approve", "--show")
    assert {file["path"]: file["status"] for file in document["files"]} == {"a.txt": "M", "deep/new.txt": "A"}


def test_showing_changes_nothing_at_all(site: Site) -> None:
    site.ready()
    site.git("add", "a.txt")
    before = tree(site.top / ".git"), site.git("status", "--porcelain=v2")
    assert site.tell("approve", "--show").code == 0
    assert (tree(site.top / ".git"), site.git("status", "--porcelain=v2")) == before


def test_nobody_without_the_passphrase_approves(site: Site) -> None:
    site.ready()
    before = site.receipts()
    refused(site.tell("approve", "--yes"), 1, "passphrase", "terminal")
    (site.home / "wrong").write_text("guessed\n", encoding="utf-8")
    os.chmod(site.home / "wrong", 0o600)
    refused(site.tell("approve", "--yes", INDELIBLE_PASSPHRASE_FILE=str(site.home / "wrong")), 1, "passphrase is wrong")
    refused(site.approver("approve"), 1, "there is none")
    assert site.receipts() == before


def test_nobody_without_an_approvers_key_approves(run: Run, home: Path) -> None:
    made = site_at(run, home)
    made.ready()
    before = made.receipts()
    for name in os.listdir(home / "config" / "indelible" / "keys"):
        if name.startswith("indelible-approver"):
            os.unlink(home / "config" / "indelible" / "keys" / name)
    refused(
        made.approver("approve", "--yes", "--despite", "the plan's approver is unknown now"),
        3,
        "key create --role approver",
    )
    assert made.receipts() == before


def test_what_comes_before_has_to_be_done_or_the_reason_stands_in_the_log(site: Site) -> None:
    site.write("a.txt", "two\n")
    refused(site.approver("approve", "--yes"), 7, "not to be approved yet")
    refused(site.approver("approve", "--yes", "--despite", " "), 64, "says why")
    ran = site.approver("--json", "approve", "--yes", "--despite", "hotfix, the critic is down")
    assert ran.code == 0, ran
    events = site.said("history", f"flow/receipt/{ran.json['receipt']}")["entries"]
    assert events[0]["type"] == "receipt-issued"
    assert "hotfix" in site.tell("history", f"flow/receipt/{ran.json['receipt']}").out


def test_an_empty_change_is_never_approved(site: Site) -> None:
    site.plan()
    refused(site.approver("approve", "--yes", "--despite", "because"), 7, "empty change")


def test_a_draft_becomes_the_plan_that_was_approved(site: Site) -> None:
    site.plan()
    assert site.tell("state", "show", "20").stdout == b"# Plan\n\n1. make the sort stable\n"
    assert site.status()["approved-plan"] == "done"
    assert site.tell("state", "write", "90_plan_draft.md", input=b"# Another\n\n1. nothing\n").code == 0
    assert site.status()["approved-plan"] == "done"


def test_a_plan_without_a_draft_is_not_approved(site: Site) -> None:
    assert site.tell("flow", "run", "0").code == 0
    assert site.tell("state", "write", "10", input=b"# Ticket\n\nIssue: 1\n").code == 0
    refused(site.approver("approve", "2", "--yes"), 7, "nothing to approve")


def on_terminal(
    site: Site, words: list[str], answers: list[tuple[str, str]], meanwhile: Callable[[], None] = lambda: None
) -> tuple[int, str]:
    """The command on a terminal of its own, each question answered once it is asked; `meanwhile` is done before the last answer."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*indelible_command(), *words], cwd=site.top, stdin=follower, stdout=follower, stderr=follower,
        env=environment({"PAGER": "cat"}), start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    said, left = "", list(answers)
    with suppress(OSError):  # its end
        while select([leader], [], [], 60)[0] and (piece := os.read(leader, 4096)):
            said += piece.decode("utf-8", "replace")
            if left and left[0][0] in said.split("\0")[-1]:
                if len(left) == 1:
                    meanwhile()
                said += "\0"
                os.write(leader, f"{left.pop(0)[1]}\n".encode())
    os.close(leader)
    return process.wait(timeout=60), said


def test_what_changes_while_the_passphrase_is_typed_is_not_approved(site: Site) -> None:
    site.ready()
    before = site.receipts()
    answers = [("as it is shown?", "y"), ("Passphrase", PASSPHRASE)]
    code, said = on_terminal(site, ["approve"], answers, lambda: site.write("a.txt", "three\n"))
    assert code == 5, said
    assert site.receipts() == before


def test_on_a_terminal_it_shows_asks_and_signs(site: Site) -> None:
    site.ready()
    code, said = on_terminal(site, ["approve"], [("as it is shown?", "y"), ("Passphrase", PASSPHRASE)])
    assert code == 0, said
    assert "+new" in said
    assert "approved 5 (approved-diff): receipt" in said


def test_a_no_at_the_terminal_signs_nothing(site: Site) -> None:
    site.ready()
    code, said = on_terminal(site, ["approve"], [("as it is shown?", "n")])
    assert code == 1, said
    assert site.status()["approved-diff"] == "needs-approval"


def test_an_edit_at_the_last_second_makes_the_receipt_void(site: Site) -> None:
    site.ready()
    site.approved()
    assert site.status()["approved-diff"] == "done"
    site.write("deep/new.txt", "nEw\n")
    assert site.status()["approved-diff"] == "waiting"  # the critic comes first again
    assert site.judged().code == 0
    assert site.status()["approved-diff"] == "needs-approval"
    why = site.tell("flow", "why", "5")
    assert "tree that was approved" in why.out, why
    site.approved()
    assert site.status()["approved-diff"] == "done"


def test_a_late_objection_makes_the_receipt_void(site: Site) -> None:
    site.ready()
    site.approved()
    ran = site.tell("reject", "--reason", "the ties are not kept", "--never", "sorting by the hash")
    assert ran.code == 0, ran
    assert b"ties are not kept" in site.tell("state", "show", "30").stdout
    assert site.status()["approved-diff"] != "done"


def test_a_no_can_leave_a_scar(site: Site) -> None:
    site.ready()
    refused(site.tell("reject", "--reason", "no", "--area", "SORT"), 64, "--scar")
    ran = site.tell(
        "--json",
        "reject",
        "--reason",
        "ties are lost",
        "--scar",
        "--area",
        "SORT",
        "--command",
        "sort -u",
        "--level",
        "barrier",
    )
    assert (ran.code, ran.json["scar"]) == (0, "SCAR-SORT-01"), ran
    assert "ties are lost" in site.tell("scar", "show", "SCAR-SORT-01").out
    assert site.tell("scar", "check", "sort -u a.txt").code == 2


def test_a_no_says_why(site: Site) -> None:
    site.ready()
    refused(site.tell("reject"), 64, "says why")


def test_two_approvers_at_once_issue_two_receipts(site: Site) -> None:
    site.ready()
    before = site.receipts()
    assert site.approver("key", "create", "otto", "--role", "approver").code == 0
    refused(site.approver("approve", "--yes"), 64, "Several approvers")
    codes: list[int] = []
    threads = [
        threading.Thread(target=lambda name=name: codes.append(site.approver("approve", "--yes", "--as", name).code)) for name in ("mina", "otto")
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0]
    assert len(site.receipts()) == len(before) + 2
    assert site.status()["approved-diff"] == "done"


def test_a_receipt_that_ran_out_counts_no_more(site: Site) -> None:
    site.ready()
    refused(site.approver("approve", "--yes", "--expires", "400d"), 64, "at most 31 days")
    refused(site.approver("approve", "--yes", "--expires", "soon"), 64, "span")
    refused(site.approver("approve", "--yes", "--expires", "0m"), 64)


def test_a_one_time_code_is_asked_for_where_the_key_has_one(site: Site) -> None:
    site.ready()
    ran = site.approver("--json", "key", "totp", "mina")
    assert ran.code == 0, ran
    address = ran.json["address"]
    assert address.startswith("otpauth://totp/")
    refused(site.approver("approve", "--yes"), 1, "one-time code")
    code, said = on_terminal(
        site, ["approve"], [("as it is shown?", "y"), ("Passphrase", PASSPHRASE), ("One-time code", "000000")]
    )
    assert code == 2, said
    from base64 import b32decode
    from time import time
    from urllib.parse import parse_qs, urlsplit

    from cryptography.hazmat.primitives.hashes import SHA1
    from cryptography.hazmat.primitives.twofactor.totp import TOTP

    app = TOTP(b32decode(parse_qs(urlsplit(address).query)["secret"][0]), 6, SHA1(), 30)  # noqa: S303 - RFC 6238's own
    code, said = on_terminal(
        site,
        ["approve"],
        [("as it is shown?", "y"), ("Passphrase", PASSPHRASE), ("One-time code", app.generate(int(time())).decode())],
    )
    assert code == 0, said


@pytest.mark.parametrize("words", [("approve", "4"), ("approve", "nothing"), ("approve", "--ask", "--asked")])
def test_what_is_not_to_be_approved_is_said(site: Site, words: tuple[str, ...]) -> None:
    ran = site.approver(*words)
    assert ran.code in (3, 64), ran
    assert ran.err


def test_a_request_by_files_is_approved_in_a_clone(site: Site, run: Run) -> None:
    site.ready()
    request = site.home / "request.json"
    assert site.tell("approve", "--ask", "-o", request).code == 0
    clone = site.home / "clone"
    subprocess.run(["git", "clone", "-q", str(site.top), str(clone)], check=True)
    receipt = site.home / "receipt"
    ran = run("approve", "--request", request, "--yes", "-o", receipt, cwd=clone,
              env={"INDELIBLE_PASSPHRASE_FILE": str(site.home / "passphrase")})  # fmt: skip
    assert ran.code == 0, ran
    assert "+new" in ran.out
    assert site.status()["approved-diff"] == "needs-approval"
    assert site.tell("approve", "--receipt", receipt).code == 0
    assert site.status()["approved-diff"] == "done"
    assert "already" in site.tell("approve", "--receipt", receipt).out


def test_a_request_that_was_altered_is_not_approved(site: Site, run: Run) -> None:
    site.ready()
    request = site.home / "request.json"
    assert site.tell("approve", "--ask", "-o", request).code == 0
    found = json.loads(request.read_bytes())
    base = found["base"]
    victim = site.home / "victim"
    victim.write_text("kept\n", encoding="utf-8")
    option = f"--output={victim}"
    strange = [
        ("tree", option),
        ("base", option),
        ("parents", [option]),
        ("branch", "-x"),
        ("target", "a b"),
        ("diff", ""),
        ("tree", "HEAD"),
    ]
    for name, value in (
        *strange,
        ("tree", base),
        ("diff", "0" * 64),
        ("base", "1" * 40),
        ("pack", ""),
        ("format", "sha256"),
    ):
        request.write_bytes(json.dumps(found | {name: value}, sort_keys=True, separators=(",", ":")).encode())
        ran = run("approve", "--request", request, "--yes", cwd=site.top,
                  env={"INDELIBLE_PASSPHRASE_FILE": str(site.home / "passphrase")})  # fmt: skip
        assert ran.code in (2, 3, 5, 64), (name, ran)
        assert b"indelible-approver" not in ran.stdout, name
    assert victim.read_text(encoding="utf-8") == "kept\n"


def test_a_receipt_of_a_stranger_is_not_taken_in(site: Site, home: Path) -> None:
    site.ready()
    note = receipt_of(site, site.approved())
    for name in os.listdir(home / "config" / "indelible" / "keys"):
        if name.startswith("indelible-approver"):
            os.unlink(home / "config" / "indelible" / "keys" / name)
    (home / "receipt").write_bytes(note)
    refused(site.tell("approve", "--receipt", home / "receipt"), 1, "key trust")
    assert site.status()["approved-diff"] != "done"


def test_a_push_of_what_was_there_before_is_not_held_back(site: Site) -> None:
    """No remote has it and nobody approved it, since nobody could yet."""
    from indelible.stepping.permitting import permitted

    here = settings.load(site.top)
    assert permitted(here, str(site.top), "push", os.environ) == ""
    site.write("b.txt", "later\n")
    site.git("add", "-A")
    site.commit_at(LATER, "later")
    assert "not approved" in permitted(here, str(site.top), "push", os.environ)


def test_what_is_signed_is_what_is_shown_also_where_no_draft_is_left(site: Site) -> None:
    assert site.tell("flow", "run", "0").code == 0
    assert site.tell("state", "write", "10", input=TICKET).code == 0
    assert site.tell("state", "write", "20", input=b"# Evil plan\n").code == 0
    assert site.tell("state", "write", "90_plan_draft.md", input=b"# Good plan\n").code == 0
    ran = site.approver("approve", "2", "--yes")
    assert (ran.code, "# Evil plan" in ran.out, "# Good plan" in ran.out) == (0, True, False), ran
    ran = site.approver("--json", "approve", "2", "--yes")
    assert ran.json["texts"]["slot:20_plan_approved.md"] == "# Evil plan\n"


def test_a_plan_that_was_approved_on_another_machine_becomes_the_plan(site: Site, run: Run) -> None:
    assert site.tell("flow", "run", "0").code == 0
    assert site.tell("state", "write", "10", input=TICKET).code == 0
    assert site.tell("state", "write", "90_plan_draft.md", input=PLAN).code == 0
    request, receipt = site.home / "request", site.home / "receipt"
    assert site.tell("approve", "2", "--ask", "-o", request).code == 0
    ran = site.approver("approve", "--request", request, "--yes", "-o", receipt)
    assert (ran.code, "make the sort stable" in ran.out) == (0, True), ran
    ran = site.tell("approve", "--receipt", receipt)
    assert (ran.code, "written 20_plan_approved.md" in ran.out) == (0, True), ran
    assert site.tell("state", "show", "20").stdout == PLAN
    assert site.status()["approved-plan"] == "done"


def test_a_draft_that_changes_while_it_is_taken_up_becomes_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert site.tell("flow", "run", "0").code == 0
    assert site.tell("state", "write", "10", input=TICKET).code == 0
    assert site.tell("state", "write", "90_plan_draft.md", input=PLAN).code == 0
    request, receipt = site.home / "request", site.home / "receipt"
    assert site.tell("approve", "2", "--ask", "-o", request).code == 0
    assert site.approver("approve", "--request", request, "--yes", "-o", receipt).code == 0
    judge = approvals.approvals_of

    def judged_and_changed(*given: Any) -> dict[str, Approval]:
        found = judge(*given)
        given[0].state.write("90_plan_draft.md", b"# Evil plan\n")
        return found

    with open_desk(settings.load(site.top), os.environ, door="approve") as desk:
        receipts.issue(desk.memory, receipt.read_bytes(), desk.approvers)
        monkeypatch.setattr(approvals, "approvals_of", judged_and_changed)
        with pytest.raises(ConflictError, match="changed since it was approved"):
            take_up(desk)
    refused(site.tell("state", "show", "20"), 3, "20")


def test_a_receipt_that_is_for_something_else_is_taken_in_and_said_to_be(site: Site, home: Path) -> None:
    site.ready()
    note = receipt_of(site, site.approved())
    (home / "receipt").write_bytes(note)
    site.write("a.txt", "another\n")
    ran = site.tell("approve", "--receipt", home / "receipt")
    assert (ran.code, "not for what is here now" in ran.err) == (0, True), ran


def test_no_two_files_have_one_name_in_what_is_shown(site: Site) -> None:
    site.write("new\nline.txt", "a\n")
    site.write("new\\nline.txt", "b\n")
    (site.top / os.fsdecode(b"odd\xff")).write_bytes(b"c\n")
    lines = [
        line.split()
        for line in site.tell("approve", "--show").out.splitlines()
        if "line.txt" in line and "(untracked)" in line
    ]
    assert len({line[1] for line in lines}) == 2, lines
    files = site.said("approve", "--show")["files"]
    assert {"new\nline.txt", "new\\nline.txt"} <= {file["path"] for file in files}
    assert any(file.get("path_base64") == "b2Rk/w==" for file in files)


def test_nothing_is_approved_from_inside_of_git(site: Site) -> None:
    site.ready()
    ran = site.run("approve", "--show", cwd=site.top / ".git")
    refused(ran, 3, "inside of a git directory")


def test_a_plan_without_a_draft_is_told_what_is_missing(site: Site) -> None:
    assert site.tell("flow", "run", "0").code == 0
    assert site.tell("state", "write", "10", input=TICKET).code == 0
    refused(site.approver("approve", "2", "--yes"), 7, "90_plan_draft.md is not there")


def test_files_of_our_own_that_git_ignores_are_one_name(site: Site) -> None:
    site.write(".gitignore", "*.log\n")
    site.git("add", "-A")
    site.git("commit", "-qm", "ignore")
    site.ready()
    site.approved()
    site.write("a\x1b[2J.log", "x")
    shown = site.tell("approve", "--show").out
    [line] = [line for line in shown.splitlines() if "ignored, and no part of it" in line]
    assert line.count(".indelible/") == 1, line
    assert "receipts" not in line
    assert "\\x1b[2J.log" in line
    assert ".indelible/" in site.said("approve", "--show")["ignored"]


def test_a_persons_no_stands_until_it_is_another_change(site: Site) -> None:
    site.ready()
    assert site.tell("reject", "--reason", "not like this").code == 0
    assert site.judged().code == 0  # the critic's word about the same change, once more
    shown = site.tell("approve", "--show").out
    assert "rejected in round 2" in shown, shown
    assert "not like this" in shown
    assert site.status()["critic"] == "failed"
    site.write("a.txt", "otherwise\n")
    assert site.judged().code == 0
    assert site.status()["critic"] == "done"


def test_work_that_is_pulled_on_top_undoes_nothing(site: Site) -> None:
    assert site.tell("hooks", "install", "--git").code == 0
    site.ready()
    site.approved()
    site.git("add", "-A")
    site.git("commit", "-qm", "approved")
    assert site.status()["commit"] == "done"
    assert site.tell("hooks", "uninstall", "--git").code == 0
    site.write("b.txt", "somebody else's\n")
    site.git("add", "-A")
    site.git("commit", "-qm", "on top")
    assert site.status()["commit"] == "done"


def test_a_refusal_names_one_receipt_and_none_that_was_used(site: Site) -> None:
    site.ready()
    first = site.approved()
    site.write("a.txt", "three\n")
    assert site.judged().code == 0
    second = site.approved()
    site.write("a.txt", "four\n")
    from indelible.stepping.permitting import permitted

    said = permitted(settings.load(site.top), str(site.top), "commit", os.environ)
    assert (second in said, first in said) == (True, False), said


def test_a_binary_is_listed_and_not_paged(site: Site) -> None:
    site.write("pic.bin", bytes(range(256)) * 40)
    ran = site.tell("approve", "--show")
    assert "GIT binary patch" not in ran.out
    assert "pic.bin" in ran.out
    assert site.tell("approve", "--show", "-o", site.home / "all.diff").code == 0
    assert b"GIT binary patch" in (site.home / "all.diff").read_bytes()


@pytest.mark.parametrize("hand", [False, True], ids=["the flow's", "another's"])
def test_after_the_commit_the_next_action_is_another_one(site: Site, *, hand: bool) -> None:
    assert site.tell("hooks", "install", "--git").code == 0
    site.ready()
    site.approved()
    site.tell("flow", "next")
    if hand:
        assert site.tell("state", "write", "99", input=MINE).code == 0
    before = site.counter()
    assert hand or "Commit exactly what was approved" in before
    ended = subprocess.run(
        ["git", "commit", "-qam", "work"], cwd=site.top, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0  # the file that git did not know is a part of what was approved
    assert site.counter() == before
    site.git("add", "-A")
    ended = subprocess.run(
        ["git", "commit", "-qm", "work"], cwd=site.top, env=environment(), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    if hand:
        assert site.counter() == before
    else:
        assert "Last Completed Step: 6 (commit)" in site.counter()
        assert "Next Permitted Action: Push the branch" in site.counter()
    assert site.tell("flow", "status").code == 0
    assert site.tell("state", "check").code == 0
