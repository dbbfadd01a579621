"""--help tells of every verb, option and exit code; --json gives one document for every verb and every kind of end."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click
import pytest
from tests.cli.hands import Kept, ended, git, refused, said, script, start, within

from indelible.cli.main import GROUPS, cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Run

VERBS = [verb for verbs in GROUPS.values() for verb in verbs]


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that a person calls, with the words that call it; not the one that git's hooks call."""
    context = click.Context(cli, info_name="indelible")
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            yield from (((verb, name), inner) for name, inner in command.commands.items() if not inner.hidden)
        else:
            yield (verb,), command


ALL = [words for words, _ in commands()]


def test_help_names_every_verb_with_a_whole_sentence(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    for verb in VERBS:
        assert re.search(rf"^  {verb}  ", ran.out, re.MULTILINE), verb
    assert not re.search(r"\w,?\.\.\.$", ran.out.replace("[ARGS]...", ""), re.MULTILINE), "no sentence is cut"
    for code in ("0", "1", "2", "3", "4", "5", "6", "64"):
        assert re.search(rf"\b{code} [a-z]", ran.out), code
    for name in ("--agent", "--store", "--json", "--version"):
        assert name in ran.out


def test_every_verb_of_the_contract_is_there() -> None:
    asked = (
        "init save save-file load verify list history diff archive unarchive restore erase audit adopt edit checkpoint proof pin key doctor "
        "incident restore-store serve apikey completion review held why deliveries gate recall"
    )
    assert set(asked.split()) <= set(VERBS)
    assert {"create", "show", "rotate", "revoke", "backup", "recover"} <= {
        words[1] for words in ALL if words[0] == "key"
    }
    assert {"list", "show", "approve", "reject", "dispute", "assign"} == {
        words[1] for words in ALL if words[0] == "review"
    }
    assert {"show", "compare", "check"} == {words[1] for words in ALL if words[0] == "gate"}
    assert {"show", "set"} == {words[1] for words in ALL if words[0] == "pin"}
    assert {"create", "list", "revoke"} == {words[1] for words in ALL if words[0] == "apikey"}
    assert {"install", "uninstall", "status", "plugin", "statusline"} == {
        words[1] for words in ALL if words[0] == "hooks"
    }


@pytest.mark.parametrize(
    "words", ["init", "save", "key", "key create", "pin set", "apikey create", "completion", "verify"]
)
def test_each_verb_has_help_of_its_own(run: Run, words: str) -> None:
    ran = run(*words.split(), "--help")
    assert ran.code == 0
    assert f"Usage: indelible {words}" in ran.out
    assert run(*words.split(), "-h").out == ran.out
    assert "--agent, --store and --json" in ran.out or " " in words, "where the global options may stand"
    assert not re.search(r"\w,?\.\.\.$", ran.out.replace("[ARGS]...", "").replace("[FILES]...", ""), re.MULTILINE)


def test_every_command_and_every_option_is_described() -> None:
    for words, command in commands():
        assert command.help, words
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                described = parameter.help or isinstance(parameter.type, click.Choice)
                assert described, (words, parameter.name)


def test_the_version(run: Run) -> None:
    assert re.fullmatch(r"indelible \d+\.\d+\.\d+\S*\n", run("--version").out)
    assert run("--json", "--version").out == run("--version").out


@pytest.mark.parametrize("words", [(), ("key",), ("pin",), ("apikey",)])
def test_a_group_without_a_verb_shows_its_help_and_is_a_matter_of_usage(run: Run, words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.code == 64
    assert ran.stdout == b""
    assert f"Usage: indelible {' '.join(words)}".strip() in ran.err
    assert "\\n" not in ran.err
    assert said(run(*words, "--json"))["slug"] == "usage"


@pytest.mark.parametrize(
    ("typed", "meant"), [("verfy", "verify"), ("histroy", "history"), ("restor-store", "restore-store")]
)
def test_a_verb_typed_wrongly_is_answered_with_the_one_that_was_meant(run: Run, typed: str, meant: str) -> None:
    refused(run(typed), 64, typed, f"'{meant}'")
    refused(run("xyzzy"), 64, "xyzzy", "--help")


# One document for every verb: once where it succeeds, and once for each way in which it fails.


def spoken(words: tuple[str, ...], kept: Kept) -> tuple[str, ...] | None:
    """Arguments with which a command succeeds on a store that holds MEMORY.md; None for a server, which does not end."""
    kept.file("MEMORY.md", b"new\n")
    fixed: dict[tuple[str, ...], tuple[str, ...]] = {
        ("init",): (), ("adopt",): (), ("doctor",): (), ("list",): (), ("audit",): (), ("checkpoint",): (), ("incident",): (),
        ("save",): ("k", "MEMORY.md"), ("save-file",): ("k", "MEMORY.md"), ("edit",): ("MEMORY.md", "--editor", "true"),
        ("load",): ("MEMORY.md",), ("verify",): ("MEMORY.md",), ("history",): ("MEMORY.md",), ("diff",): ("MEMORY.md",),
        ("archive",): ("MEMORY.md",), ("unarchive",): ("MEMORY.md",), ("erase",): ("MEMORY.md", "--yes"),
        ("restore",): ("MEMORY.md", "--version", "1"), ("proof",): ("MEMORY.md",), ("pin", "show"): (), ("pin", "set"): ("--accept",),
        ("key", "create"): ("bob",), ("key", "show"): (), ("key", "rotate"): (), ("key", "revoke"): ("--from-seq", "1"),
        ("key", "backup"): (), ("completion",): ("bash",), ("apikey", "create"): ("bob",), ("apikey", "list"): (),
        ("deliveries",): (), ("recall",): ("체크섬을", "확인한다"), ("similarity",): (), ("why",): ("MEMORY.md",), ("held",): (), ("gate", "show"): (),
        ("gate", "compare"): (), ("review", "list"): (), ("review", "show"): ("MEMORY.md",), ("key", "list"): (),
        ("review", "approve"): ("MEMORY.md",), ("review", "reject"): ("MEMORY.md", "--reason", "test"),
        ("review", "dispute"): ("MEMORY.md", "--reason", "test"), ("review", "assign"): ("MEMORY.md", "--to", "mina"),
        ("hooks", "install"): ("--host", "claude-code"), ("hooks", "uninstall"): (), ("hooks", "plugin"): ("opencode", "out"),
        ("hooks", "statusline"): (), ("reindex",): (),
    }  # fmt: skip
    if words[0] == "review":
        assert kept.run("key", "create", "mina", "--role", "reviewer", env=kept.passphrase()).code == 0
    if words in fixed:
        return fixed[words]
    if words[0] == "state":
        return in_a_state_directory(words[1], kept)
    if words == ("serve",):
        return None
    return PREPARED[words if words in PREPARED else words[:1]](kept)


def after_a_boot(kept: Kept) -> tuple[str, ...]:
    git(kept.work, "init", "-q")
    assert within("init") == 0
    assert within("state", "init") == 0
    return ()


def after_hooks(kept: Kept) -> tuple[str, ...]:
    assert kept.run("hooks", "install", "--host", "claude-code").code == 0
    return ()


def with_rules(kept: Kept) -> tuple[str, ...]:
    kept.file(".indelible/retention.toml", b"")
    return ("--store", str(kept.store))


def with_a_backup(kept: Kept) -> tuple[str, ...]:
    assert kept.run("key", "backup", "-o", "backup", env=kept.passphrase()).code == 0
    return ("backup",)


def over_an_older_copy(kept: Kept) -> tuple[str, ...]:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    return ("--reason", "test")


def with_a_scar(kept: Kept) -> None:
    texts = ("--title", "t", "--tried", "a", "--why", "b", "--command", "git push")
    assert kept.run("scar", "add", "--area", "GIT", *texts).code == 0


def scarred(*words: str) -> Callable[[Kept], tuple[str, ...]]:
    """Arguments for a verb of `scar`, where there is one."""

    def prepare(kept: Kept) -> tuple[str, ...]:
        with_a_scar(kept)
        return words

    return prepare


PILLARS = tuple(
    f"--pillar={name}=ok" for name in ("correctness", "architecture", "tests", "security", "performance", "readability")
)


def criticised(*words: str) -> Callable[[Kept], tuple[str, ...]]:
    """Arguments for a verb of `critic`, in a repository with a change that was judged."""

    def prepare(kept: Kept) -> tuple[str, ...]:
        git(kept.work, "init", "-q")
        store = ("--store", str(kept.store))
        assert kept.run("critic", "add", "--verdict", "approved", *PILLARS, *store).code == 0
        return (*words, *store)

    return prepare


def in_a_flow(*words: str, run: tuple[str, ...] = ()) -> Callable[[Kept], tuple[str, ...]]:
    """Arguments for a verb of `flow`, in a repository with laws.

    Args:
        run: a verb of it that comes before.
    """

    def prepare(kept: Kept) -> tuple[str, ...]:
        after_a_boot(kept)
        if run:
            kept.run("flow", *run, env=kept.passphrase())
        return words

    return prepare


def in_a_flow_with_a_step(*words: str, first: str) -> Callable[[Kept], tuple[str, ...]]:
    """Likewise, with a workflow whose step `t` has effects, and a first verb on it."""

    def prepare(kept: Kept) -> tuple[str, ...]:
        after_a_boot(kept)
        human = '[[target]]\nid = "h"\nname = "approved-diff"\ngate = "human"\nmanual = "look"\n'
        step = '[[target]]\nid = "t"\nname = "tt"\nmanual = "post"\neffects = "posts"\n'
        kept.file(".indelible/workflow.toml", (human + step).encode())
        assert kept.run("flow", "seal", "--reason", "test", env=kept.passphrase()).code == 0
        kept.run("flow", first, "t")
        return words

    return prepare


def approvable(*words: str) -> Callable[[Kept], tuple[str, ...]]:
    """Arguments where there is a change, and an approver's key."""

    def prepare(kept: Kept) -> tuple[str, ...]:
        in_a_flow()(kept)
        assert kept.run("key", "create", "mina", "--role", "approver", env=kept.passphrase()).code == 0
        return words

    return prepare


def with_no_new_commit(kept: Kept) -> tuple[str, ...]:
    """Arguments for a range with nothing in it, which an approver could have signed."""
    words = approvable("--range", "HEAD..HEAD")(kept)
    git(kept.work, "commit", "-q", "--allow-empty", "-m", "first")
    return words


def forked(*words: str, of: str = "show") -> Callable[[Kept], tuple[str, ...]]:
    """Arguments for a verb about a child that ended; `clean` takes none of them."""

    def prepare(kept: Kept) -> tuple[str, ...]:
        assert kept.run("fork", "child", "--", "true").code == 0
        return words if of == "clean" else ("child", *words)

    return prepare


def with_a_running_child(kept: Kept) -> tuple[str, ...]:
    assert kept.run("fork", "child", "--detach", "--", "sleep", "30").code == 0
    return ("child",)


PREPARED: dict[tuple[str, ...], Callable[[Kept], tuple[str, ...]]] = {
    ("gate", "check"): lambda kept: (
        str(kept.file("records", b'{"id": "a", "scope": "s"}')), "--scope", "s", "--policy", "in-scope",
    ),
    ("boot",): after_a_boot,
    ("approve",): approvable("--yes", "--despite", "test"),
    ("reject",): approvable("--reason", "test"),
    ("key", "totp"): approvable("mina"),
    ("fork",): lambda _kept: ("child", "--json", "--", "true"),
    ("wait",): forked(),
    ("forks", "show"): forked(), ("forks", "verify"): forked(), ("forks", "clean"): forked("--older", "30d", of="clean"),
    ("forks", "stop"): with_a_running_child,
    ("scar", "add"): scarred("--area", "GIT", "--title", "t", "--tried", "a", "--why", "b"),
    ("scar", "list"): scarred("--all"),
    ("scar", "show"): scarred("SCAR-GIT-01"),
    ("scar", "check"): scarred("true"),
    ("scar", "waive"): scarred("SCAR-GIT-01", "--command", "git push", "--reason", "test"),
    ("scar", "retire"): scarred("SCAR-GIT-01", "--reason", "test"),
    ("scar", "export"): scarred("scars.jsonl"),
    ("flow", "status"): in_a_flow(), ("flow", "next"): in_a_flow(), ("flow", "why"): in_a_flow("5"), ("flow", "run"): in_a_flow("0"),
    ("flow", "done"): in_a_flow_with_a_step("t", first="run"), ("flow", "init"): in_a_flow(),
    ("flow", "resolve"): in_a_flow_with_a_step("t", "--happened", "--reason", "seen", first="run"),
    ("flow", "seal"): in_a_flow("--reason", "test", run=("init", "--unsealed")), ("flow", "restore"): in_a_flow(run=("init",)),
    ("flow", "show"): in_a_flow(), ("flow", "makefile"): in_a_flow(), ("flow", "check"): with_no_new_commit,
    ("critic", "add"): criticised("--verdict", "approved", *PILLARS),
    ("critic", "list"): criticised(),
    ("critic", "show"): criticised("1"),
    ("critic", "status"): criticised(),
    ("hooks", "status"): after_hooks,
    ("retention",): with_rules,
    ("key", "trust"): lambda kept: (kept.run("key", "show").out.strip(),),
    ("key", "recover"): with_a_backup,
    ("restore-store",): over_an_older_copy,
    ("apikey", "revoke"): lambda kept: (said(kept.run("apikey", "create", "bob", "--json"))["id"],),
}  # fmt: skip
"""Verbs that need something to be there first: what makes it gives their arguments."""


def in_a_state_directory(verb: str, kept: Kept) -> tuple[str, ...] | None:
    """Arguments for a verb of `state` where a ticket is written; None where the system has no attributes to set."""
    git(kept.work, "init", "-q")
    store = ("--store", str(kept.store))
    if verb not in ("write", "template"):
        assert kept.run("state", "write", "10", "MEMORY.md", *store).code == 0
    if verb == "protect" and (
        kept.run("state", "protect", *store).code or kept.run("state", "protect", "--off", *store).code
    ):
        return None
    kept.file("slots/40_notes.md", b"notes\n")
    named = {"write": ("10", "MEMORY.md"), "append": ("30", "MEMORY.md"), "amend": ("10", "MEMORY.md", "--reason", "test"),
             "adopt": ("slots",), "template": ("10",), "show": ("10",), "history": ("10",), "protect": ("--off",)}  # fmt: skip
    return (*named.get(verb, ()), *store)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_success_is_one_document(kept: Kept, words: tuple[str, ...]) -> None:
    arguments = spoken(words, kept)
    if arguments is None:
        pytest.skip("a server says it when it is up; a file system may have no attributes")
    env = kept.passphrase()
    ran = kept.run(*words, *arguments, "--json", env=env)
    assert ran.code == 0, ran
    assert said(ran)["slug"]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_wrong_option_is_one_document(run: Run, words: tuple[str, ...]) -> None:
    document = said(run(*words, "--no-such-option", "--json"))
    assert (document["slug"], document["exit_code"]) == ("usage", 64)
    assert f"indelible {' '.join(words)} --help" in document["remedy"]


READING = [
    ("load", "MEMORY.md"), ("verify", "MEMORY.md"), ("verify", "--", "MEMORY.md"), ("list",), ("history", "MEMORY.md"), ("diff", "MEMORY.md"),
    ("checkpoint",), ("proof", "MEMORY.md"), ("audit",), ("incident",), ("why", "MEMORY.md"), ("held",), ("recall", "memory"), ("similarity",),
    ("review", "list"), ("review", "show", "MEMORY.md"), ("gate", "compare"),
]  # fmt: skip
WRITING = [
    ("save", "MEMORY.md", "-"), ("archive", "MEMORY.md"), ("unarchive", "MEMORY.md"), ("erase", "MEMORY.md", "--yes"),
    ("restore", "MEMORY.md", "--version", "1"), ("edit", "MEMORY.md", "--editor", "true"), ("adopt",), ("key", "rotate"),
]  # fmt: skip


def fail_tampered(kept: Kept) -> set[int]:
    old = kept.copy()
    kept.save("MEMORY.md", b"second\n")
    kept.put_back(old)
    return {2}


def fail_no_pin(kept: Kept) -> set[int]:
    kept.lose_pin()
    return {1}


def fail_no_store(kept: Kept) -> set[int]:
    kept.remove()
    kept.be_new()
    return {0, 3}  # adopt makes one


def fail_random(kept: Kept) -> set[int]:
    kept.remove()
    kept.store.write_bytes(os.urandom(9000))
    kept.be_new()
    return {1}


FAILURES = {function.__name__[5:]: function for function in (fail_tampered, fail_no_pin, fail_no_store, fail_random)}


@pytest.mark.parametrize("failure", FAILURES)
def test_each_kind_of_failure_is_one_document_whatever_the_verb(kept: Kept, failure: str) -> None:
    """`--json` stands behind the verb, since a `--` ends the options."""
    kept.file("MEMORY.md", b"new\n")
    codes = FAILURES[failure](kept)
    for words in (*READING, *WRITING):
        groups = ("key", "review", "gate")
        ran = (
            kept.run(words[0], "--json", *words[1:], input=b"x")
            if words[0] not in groups
            else kept.run(*words, "--json")
        )
        document = said(ran)
        assert ran.code in codes, (words, ran)
        if ran.code:
            assert document["message"] if "message" in document else document["slug"], (words, document)
        if failure == "no_store" and words == ("adopt",):
            break


def test_an_interrupted_command_is_one_document(kept: Kept) -> None:
    editor = script(kept.work / "ed", "kill -INT $PPID; sleep 1")
    ran = ended(start("edit", "MEMORY.md", "--editor", str(editor), "--json", cwd=kept.work))
    assert ran.code == 130
    assert "Stopped" in said(ran)["message"]
