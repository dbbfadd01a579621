"""why, held, gate, recall, load --policy and --fenced: why a memory is given or not, for people and for programs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.hands import CASES, FIRST, Kept, git, refused, said, script, within
from tests.conftest import environment, indelible_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Run


def delivery(kept: Kept, key: str = "MEMORY.md") -> str:
    """Load a memory, and give the number of its delivery."""
    return str(kept.run("load", key, "--json").json["delivery"])


def test_why_says_all_that_a_verdict_rests_on(kept: Kept) -> None:
    ran = kept.run("why", "MEMORY.md")
    assert ran.code == 0
    for word in ("anchored", "in-scope", "facts", "review", "unreviewed", "checkpoint", "root", "leaf", "sha256:"):
        assert word in ran.out, word


def test_why_of_a_held_memory_is_exit_4_and_names_the_command(kept: Kept) -> None:
    kept.save("ext", b"x", "--origin", "external")
    ran = kept.run("why", "ext")
    assert ran.code == 4
    assert "origin-unreviewed" in ran.out
    assert "Next: indelible review approve ext" in ran.out
    document = said(kept.run("why", "ext", "--json"))
    assert [one["name"] for one in document["conditions"] if not one["holds"]] == ["trusted-origin"]
    assert document["command"] == "indelible review approve ext"


def test_why_by_another_policy_by_urn_and_of_an_older_version(kept: Kept) -> None:
    kept.save("MEMORY.md", b"second\n")
    assert kept.run("why", "MEMORY.md", "--policy", "strict").code == 4
    urn = kept.run("why", "MEMORY.md", "--json").json["id"]
    assert said(kept.run("why", urn, "--json"))["key"] == "MEMORY.md"
    assert said(kept.run("why", "MEMORY.md", "--version", "1", "--json"))["version"] == 1
    refused(kept.run("why", "MEMORY.md", "--policy", "strickt"), 64, "strickt")


def test_why_of_nothing_is_exit_3(kept: Kept) -> None:
    refused(kept.run("why", "nothing"), 3)
    refused(kept.run("why", "--delivery", "99"), 3, "deliveries")
    for words in ((), ("MEMORY.md", "--delivery", "1"), ("--delivery", "1", "--policy", "strict")):
        refused(kept.run("why", *words), 64)
    refused(kept.run("why", "MEMORY.md", "--delivery", "1"), 64, "both named")


def test_a_delivery_is_explained_after_the_memory_was_erased(kept: Kept) -> None:
    number = delivery(kept)
    before = said(kept.run("why", "--delivery", number, "--json"))
    assert (before["entry"], before["now"], before["text"]) == ("stands", "unchanged", "same")
    assert kept.run("erase", "MEMORY.md", "--yes").code == 0
    ran = kept.run("why", "--delivery", number)
    assert ran.code == 0
    assert "erased since" in ran.out
    assert "proof" in ran.out
    after = said(kept.run("why", "--delivery", number, "--json"))
    assert (after["entry"], after["now"], after["text"], after["delivery"]["sha256"]) == (
        "stands",
        "erased",
        "gone",
        None,
    )
    assert after["proof"]["leaf"] == after["delivery"]["leaf"]
    gone = kept.run("why", "MEMORY.md")
    assert gone.code == 3
    assert "was erased at" in gone.out
    assert "delivered" in gone.out


def test_why_not_of_what_was_held(kept: Kept) -> None:
    kept.save("ext", b"x", "--origin", "external")
    held = kept.run("load", "ext", "--json")
    assert held.code == 4
    ran = kept.run("why", "--delivery", str(held.json["delivery"]))
    assert ran.code == 0
    assert "origin-unreviewed" in ran.out
    assert "was held" in ran.out


def test_a_delivery_against_a_store_that_was_altered_is_exit_2(kept: Kept) -> None:
    number = delivery(kept)
    kept.sql("UPDATE entry SET leaf = ?", b"x" * 200)
    kept.be_new()
    ran = kept.run("why", "--delivery", number)
    assert ran.code in (2, 3)  # the journal lies with the pin, in the state folder


def test_each_held_memory_has_one_command_that_works_as_it_stands(kept: Kept) -> None:
    env = kept.passphrase()
    kept.run("key", "create", "mina", "--role", "reviewer", env=env)
    kept.save("out side", b"x", "--origin", "external")
    kept.save("late", b"x", "--expires", "2020-01-01")
    kept.save("away", b"x")
    kept.run("archive", "away")
    document = said(kept.run("held", "--json", "--all"))
    assert {one["key"] for one in document["held"]} == {"out side", "late", "away"}
    assert said(kept.run("held", "--json"))["judged"] == 3
    for one in document["held"]:
        literally(kept, one["command"], env)
    assert said(kept.run("held", "--json", "--all"))["held"] == []


def literally(kept: Kept, command: str, env: Mapping[str, str]) -> str:
    """Run a command as it stands, in a shell that knows `indelible`; gives what it printed."""
    folder = kept.home / "bin"
    folder.mkdir(exist_ok=True)
    script(folder / "indelible", f'exec {shlex.join(indelible_command())} "$@"')
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=kept.work, env=environment({**env, "PATH": path}), capture_output=True, check=False
    )
    assert done.returncode == 0, (command, done.stderr.decode())
    return done.stdout.decode()


def commands(kept: Kept, *words: str) -> dict[str, str]:
    """By its key, the command for each memory that is held."""
    return {one["key"]: one["command"] for one in said(kept.run("held", "--json", *words))["held"]}


AGAIN = "indelible load --policy lifecycle {0} | indelible save {1} {0} -"
PAST_ALL = "indelible load --policy unsafe-deliver-all {0} | indelible save {1} {0} -"


@pytest.mark.parametrize(
    ("key", "options", "command"),
    [
        ("late", ("--expires", "2020-01-01"), PAST_ALL.format("late", "--expires 90d")),
        ("-late one", ("--expires", "2020-01-01"), PAST_ALL.format("-- '-late one'", "--expires 90d")),
        ("not-yet", ("--valid-from", "2999-01-01"), AGAIN.format("not-yet", "--valid-from 0m")),
        ("over", ("--valid-until", "2020-01-01"), AGAIN.format("over", "--valid-until 90d")),
        (
            "all", ("--valid-from", "2999-01-01", "--valid-until", "2999-01-02", "--expires", "2020-01-01"),
            PAST_ALL.format("all", "--valid-from 0m --expires 90d"),
        ),
    ],
)  # fmt: skip
def test_what_time_holds_is_handed_out_after_its_command(
    kept: Kept, key: str, options: tuple[str, ...], command: str
) -> None:
    kept.save(key, b"x\r\n\xff", *options)
    assert commands(kept) == {key: command}
    literally(kept, command, {})
    assert commands(kept) == {}
    assert kept.load(key) == b"x\r\n\xff"


def test_what_stands_on_a_memory_that_is_held_for_good_stands_on_it_no_longer(kept: Kept) -> None:
    env = kept.passphrase()
    kept.run("key", "create", "mina", "--role", "reviewer", env=env)
    for end in ("archived", "erased", "rejected", "superseded", "outranked", "one of two"):
        kept.save(f"{end} base", b"the ground of it\n")
        kept.save(end, b"stands on it\n", "--depends-on", f"{end} base")
    kept.save("one of two", b"stands on two\n", "--depends-on", "one of two base", "--depends-on", "MEMORY.md")
    kept.run("archive", "archived base")
    kept.run("archive", "one of two base")
    kept.run("erase", "erased base", "--yes")
    kept.run("review", "reject", "rejected base", "--reason", "wrong", env=env)
    kept.save("newer", b"in its place\n", "--supersedes", "superseded base")
    kept.save("newest", b"in the place of that\n", "--supersedes", "newer")
    kept.save("otherwise", b"says otherwise\n", "--contradicts", "outranked base")
    kept.run("review", "approve", "otherwise", env=env)
    found = commands(kept)
    for end in ("archived", "erased"):
        assert found[end] == AGAIN.format(end, "--no-depends-on")
    assert found["one of two"] == AGAIN.format("'one of two'", "--depends-on MEMORY.md")
    assert found["superseded"] == AGAIN.format("superseded", "--depends-on newest")
    for end in ("rejected", "outranked"):
        assert found[end] == AGAIN.format(end, "--no-depends-on")
        assert found[f"{end} base"] == f"indelible archive '{end} base'"
    assert len(found) == 8
    for command in found.values():
        literally(kept, command, env)
    assert commands(kept) == {}
    related = said(kept.run("why", "superseded", "--json"))["related"]
    assert [(one["relation"], one["key"]) for one in related] == [("depends_on", "newest")]


def test_what_is_for_every_place_is_handed_out_by_its_command(kept: Kept) -> None:
    kept.save("every where", b"everywhere\n", "--scope", "global")
    command = commands(kept)["every where"]
    assert command == "INDELIBLE_GLOBAL=1 indelible load 'every where'"
    assert literally(kept, command, {}) == "everywhere\n"


def test_held_leaves_out_what_is_for_other_places_and_counts_it(kept: Kept) -> None:
    kept.save("apollo-1", b"x", "--scope", "project:apollo")
    kept.save("apollo-2", b"x", "--scope", "repo:github.com/o/r")
    kept.save("late", b"x", "--scope", "project:apollo", "--expires", "2020-01-01")
    document = said(kept.run("held", "--json"))
    assert ([one["key"] for one in document["held"]], document["elsewhere"]) == (["late"], 2)
    assert kept.run("held").out.splitlines()[-1].endswith("; 2 more are for other places: --all")
    document = said(kept.run("held", "--all", "--json"))
    assert ([one["key"] for one in document["held"]], document["elsewhere"]) == (["apollo-1", "apollo-2", "late"], 0)
    assert "other places" not in kept.run("held", "--all").out


def test_of_several_reviewers_here_the_command_names_the_assigned_one_or_the_first(kept: Kept) -> None:
    env = kept.passphrase()
    for name in ("mina", "jun"):
        kept.run("key", "create", name, "--role", "reviewer", env=env)
    kept.save("any", b"x", "--origin", "external")
    kept.save("hers", b"x", "--origin", "external")
    kept.run("review", "assign", "hers", "--to", "mina", "--as", "mina", env=env)
    assert commands(kept) == {
        "any": "indelible review approve --as jun any",
        "hers": "indelible review approve --as mina hers",
    }
    assert "Next: indelible review approve --as mina hers" in kept.run("why", "hers").out
    assert said(kept.run("why", "hers", "--json"))["command"] == "indelible review approve --as mina hers"
    assert "Next: indelible review approve --as jun --digest " in kept.run("review", "show", "any").out
    for command in commands(kept).values():
        literally(kept, command, env)
    assert commands(kept) == {}
    assert "by mina" in kept.run("why", "hers").out


def test_what_is_assigned_to_somebody_unknown_is_assigned_to_somebody_known_and_then_approved(kept: Kept) -> None:
    env = kept.passphrase()
    kept.run("key", "create", "mina", "--role", "reviewer", env=env)
    kept.save("done", b"x")
    kept.run("review", "approve", "done", env=env)
    for key in ("MEMORY.md", "done"):
        ran = kept.run("review", "assign", key, "--to", "zed", env=env)
        assert ran.code == 0
        assert "no reviewer's key that is known here is of zed" in ran.err
    assert commands(kept, "--policy", "owner") == {
        key: f"indelible review assign --to mina {key}" for key in ("MEMORY.md", "done")
    }
    for command in commands(kept, "--policy", "owner").values():
        literally(kept, command, env)
    assert commands(kept, "--policy", "owner") == {"MEMORY.md": "indelible review approve --as mina MEMORY.md"}
    refused(kept.run("load", "MEMORY.md", "--policy", "owner"), 4, "--as mina MEMORY.md', by mina")
    literally(kept, "indelible review approve --as mina MEMORY.md", env)
    assert commands(kept, "--policy", "owner") == {}
    ran = kept.run("review", "assign", "MEMORY.md", "--to", "mina", env=env)
    assert (ran.code, ran.err) == (0, "")


def test_a_rejected_memory_has_one_remedy_in_load_why_and_held(kept: Kept) -> None:
    env = kept.passphrase()
    kept.run("key", "create", "mina", "--role", "reviewer", env=env)
    kept.run("review", "reject", "MEMORY.md", "--reason", "wrong", env=env)
    refused(kept.run("load", "MEMORY.md"), 4, "'indelible archive MEMORY.md', or a reviewer approves it")
    remedy = said(kept.run("held", "--json"))["held"][0]["reasons"][0]["remedy"]
    assert remedy == "'indelible archive MEMORY.md', or a reviewer approves it"
    assert kept.run("why", "MEMORY.md", "--json").json["verdict"]["reasons"][0]["remedy"] == remedy
    assert kept.run("why", "MEMORY.md", "--json").json["command"] == "indelible archive MEMORY.md"


def test_held_by_another_policy_and_with_a_prefix(kept: Kept) -> None:
    kept.save("b", b"x")
    assert {one["key"] for one in said(kept.run("held", "--policy", "owner", "--json"))["held"]} == {"MEMORY.md", "b"}
    assert {one["key"] for one in said(kept.run("held", "b", "--policy", "owner", "--json"))["held"]} == {"b"}
    assert "0 of 2 memories held under anchored" in kept.run("held").out


def test_held_names_what_was_altered_and_is_exit_2(kept: Kept) -> None:
    kept.save("ext", b"x", "--origin", "external")
    kept.sql("UPDATE record SET content = ? WHERE content = ?", b"altered", FIRST)
    ran = kept.run("held", "--json")
    assert ran.code == 2
    assert [one["key"] for one in ran.json["held"]] == ["ext"]
    assert len(ran.json["findings"]) == 1


def test_gate_show_says_what_memory_is_judged_by(repo: Kept) -> None:
    ran = repo.run("gate", "show")
    assert ran.code == 0
    for word in (
        "anchored",
        "anchors-unchanged",
        "git.example.org/team/notes",
        "main",
        "not admitted",
        "none is trusted here",
    ):
        assert word in ran.out, word
    repo.run("key", "create", "mina", "--role", "reviewer", "--unprotected")
    document = said(repo.run("gate", "show", "--policy", "strict", "--json"))
    assert document["mode"] == "strict"
    assert [(one["name"], one["protected"]) for one in document["reviewers"]] == [("indelible-reviewer/mina", False)]


def test_gate_compare_runs_all_four_and_shows_where_they_differ(repo: Kept) -> None:
    repo.save("timed", b"x", "--expires", "30d")
    repo.save("late", b"x", "--expires", "2020-01-01")
    document = said(repo.run("gate", "compare", "--json"))
    assert {name: one["held"] for name, one in document["policies"].items()} == {
        "strict": 4,
        "anchored": 1,
        "expiry": 1,
        "owner": 4,
    }
    assert set(document["differ"]) == {"MEMORY.md", "state/00_governance.md", "timed"}
    assert document["policies"]["strict"]["costs"]
    out = repo.run("gate", "compare").out
    for word in ("strict", "unrelated changes", "indirect dependencies", "owner", "differ", "timed"):
        assert word in out, word


def check(run: Run, *words: str, **options: Any) -> dict[str, Any]:
    ran = run("gate", "check", *words, "--json", **options)
    assert ran.code in (0, 4), ran
    return dict(ran.json)


def test_gate_check_judges_the_field_cases_records_without_a_store(run: Run) -> None:
    expected = json.loads((CASES / "gate_expected.json").read_text(encoding="utf-8"))
    words = (str(CASES / "gate_records.jsonl"), "--policy", "in-scope,at-revision,not-expired,reviewed")
    context = expected["context"]
    options = ("--scope", context["scope"], "--revision", context["revision"], "--now", context["now"])
    for asked in (options, ("--context", json.dumps(context))):
        document = check(run, *words, *asked)
        assert [one["id"] for one in document["records"] if not one["held"]] == expected["offered"]
        withheld = {
            one["id"]: [reason["slug"].removesuffix("-missing") for reason in one["reasons"]]
            for one in document["records"]
            if one["held"]
        }
        assert withheld == expected["withheld"]


def test_gate_check_names_a_broken_line_by_its_number_and_shows_the_others(run: Run) -> None:
    lines = '{"id": "a", "scope": "s"}\n{broken\n{"id": "c", "scope": "s"}\n'
    ran = run("gate", "check", "-", "--scope", "s", "--policy", "in-scope", input=lines)
    assert ran.code == 4
    assert "line 2" in ran.out
    assert "2 of 3 records offered" in ran.out
    assert (
        run("gate", "check", "-", "--scope", "s", "--policy", "in-scope", input='{"id": "a", "scope": "s"}').code == 0
    )


def test_gate_check_without_a_context_says_so_and_how_to_give_one(run: Run) -> None:
    record = '{"id": "a", "scope": "s"}'
    none = run("gate", "check", "-", "--policy", "in-scope", input=record)
    assert none.code == 4
    for word in ("no context was given", "--scope", "--context"):
        assert word in none.err
    for given in (("--scope", "s"), ("--context", '{"scope": "s"}')):
        ran = run("gate", "check", "-", "--policy", "in-scope", *given, input=record)
        assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    "words",
    [("--context", "{"), ("--context", "[]"), ("--now", "soon"), ("--policy", "none"), ("--context", '{"colour": 1}')],
)
def test_gate_check_refuses_a_context_that_it_cannot_read(run: Run, words: tuple[str, ...]) -> None:
    refused(run("gate", "check", "-", *words, input="{}"), 64)


def test_every_reason_of_a_held_memory_stands_on_a_line_of_its_own(kept: Kept) -> None:
    kept.save("both", b"x", "--origin", "external", "--expires", "2020-01-01")
    err = refused(kept.run("load", "both"), 4)
    assert re.search(r"^   origin-unreviewed: ", err, re.MULTILINE)
    assert re.search(r"^   expiry: ", err, re.MULTILINE)
    document = said(kept.run("load", "both", "--json"))
    assert [reason["slug"] for reason in document["reasons"]] == ["origin-unreviewed", "expiry"]


def test_load_by_another_policy_and_with_its_verdict(kept: Kept) -> None:
    refused(kept.run("load", "MEMORY.md", "--policy", "strict"), 4)
    document = said(kept.run("load", "MEMORY.md", "--json"))
    assert document["verdict"]["mode"] == "anchored"
    assert document["verdict"]["delivered_as"] == "reference"
    assert [note["slug"] for note in document["verdict"]["notes"]] == ["unreviewed", "no-expiry"]
    assert isinstance(document["delivery"], int)
    assert kept.run("load", "MEMORY.md").err == "⚠️ unreviewed\n"


def test_one_load_is_one_delivery(kept: Kept) -> None:
    before = len(said(kept.run("deliveries", "--json"))["deliveries"])
    kept.run("load", "MEMORY.md")
    assert len(said(kept.run("deliveries", "--json"))["deliveries"]) == before + 1


def test_a_fenced_load_is_in_a_frame_that_is_made_afresh(kept: Kept) -> None:
    frames = [kept.run("load", "MEMORY.md", "--fenced").out for _ in range(2)]
    marks = {re.match(r"\[memory ([0-9a-f]{32}) begins: reference", frame)[1] for frame in frames}  # type: ignore[index]
    assert len(marks) == 2
    assert all(FIRST.decode().strip() in frame and "review: unreviewed" in frame for frame in frames)


def test_recall_gives_frames_and_names_what_is_held(kept: Kept) -> None:
    kept.save("db", b"start the database before the integration tests\n", "--tag", "tests")
    kept.save("ext", b"the database needs a password\n", "--origin", "external")
    ran = kept.run("recall", "database", "tests")
    assert ran.code == 0
    assert "key: db" in ran.out
    assert "password" not in ran.out
    assert "ext is held: origin-unreviewed" in ran.err
    document = said(kept.run("recall", "database", "--tag", "tests", "--json"))
    assert [one["key"] for one in document["delivered"]] == ["db"]
    assert document["held"] == []
    assert kept.run("recall", "password").code == 4
    nothing = kept.run("recall", "zeppelin")
    assert (nothing.code, nothing.out) == (0, "")


def test_a_commit_changes_a_file_and_the_memory_about_it_is_held_reviewed_and_given_again(repo: Kept) -> None:
    env = repo.passphrase()
    repo.run("key", "create", "mina", "--role", "reviewer", env=env)
    repo.file("app.py", b"def start(): ...\n")
    git(repo.work, "add", ".")
    git(repo.work, "commit", "-qm", "app")
    repo.file("note", b"start() in app.py opens the database\n")
    assert within("save", "--anchor", "app.py", "app-note", "note") == 0
    assert repo.run("load", "app-note").code == 0
    repo.file("app.py", b"def start(): return 1\n")
    git(repo.work, "commit", "-qam", "changed")
    refused(repo.run("load", "app-note"), 4, "app.py")
    held = said(repo.run("held", "--json"))["held"]
    assert [(one["key"], one["command"]) for one in held] == [("app-note", "indelible review approve app-note")]
    why = repo.run("why", "app-note")
    assert why.code == 4
    assert "anchor-changed" in why.out
    assert repo.run(*shlex.split(held[0]["command"])[1:], env=env).code == 0
    assert repo.run("load", "app-note").code == 0
    for words in (("why",), ("review", "show")):
        out = repo.run(*words, "app-note").out
        assert "has changed" in out
        assert "approved as it is now" in out
        assert "Look at what changed" not in out
        assert "Next:" not in out
    assert [one["approved"] for one in said(repo.run("why", "app-note", "--json"))["anchors"]] == [True]
    repo.file("app.py", b"def start(): return 2\n")
    assert "Look at what changed" in repo.run("why", "app-note").out
    refused(repo.run("load", "app-note"), 4, "app.py")


def test_a_memory_of_paths_is_asked_for_with_the_files_that_are_worked_on(repo: Kept) -> None:
    repo.file("src/app.py", b"x")
    repo.file("docs/a.md", b"x")
    repo.save("src-rule", b"of the sources", "--scope", "path:src/**")
    assert repo.run("load", "src-rule").code == 0
    assert repo.run("load", "src-rule", "--file", "docs/a.md", "--file", "src/app.py").code == 0
    refused(repo.run("load", "src-rule", "--file", "docs/a.md"), 4, "src/**", "docs/a.md")
    # From a folder below, the very file of that folder.
    assert repo.run("why", "src-rule", "--file", "app.py", cwd=repo.work / "src").code == 0
    assert repo.run("why", "src-rule", "--file", "a.md", cwd=repo.work / "docs").code == 4
    document = said(repo.run("held", "src", "--all", "--file", str(repo.work / "docs" / "a.md"), "--json"))
    assert [one["key"] for one in document["held"]] == ["src-rule"]
    assert said(repo.run("gate", "show", "--file", "src/app.py", "--json"))["context"]["paths"] == "src/app.py"
    assert [one["key"] for one in repo.run("recall", "sources", "--file", "docs/a.md", "--json").json["held"]] == [
        "src-rule"
    ]
    for outside in ("..", ".", str(repo.home / "elsewhere")):
        refused(repo.run("load", "src-rule", "--file", outside), 64, "no file below")
