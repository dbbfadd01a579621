"""What an opening of a session waits for: the installed command, started cold, beside `python -c pass`.

The bytecode is compiled, as pip leaves it; with PYTHONDONTWRITEBYTECODE set, and no cache, every figure here would
be several times as large, so that variable is taken out. The home and the repository are scratch ones.
"""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from functools import partial
from statistics import quantiles
from typing import TYPE_CHECKING

from ratios import interleave, ratio, wall
from table import Row

import indelible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 31
KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP")


def rows(folder: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """Each command in turns with a Python that does nothing."""
    start = installed("indelible", "indelible")
    compileall.compile_dir(os.path.dirname(indelible.__file__), quiet=2)
    run = partial(_run, folder, environment_of(folder))
    run(start, "init")
    with open(os.path.join(folder, "MEMORY.md"), "w", encoding="utf-8") as file:
        file.write("결정: the release branch is cut on Thursday.\n" * 10)
    run(start, "save", "MEMORY.md", "MEMORY.md")
    commands = {"--version": ["--version"], "verify": ["verify", "MEMORY.md"], "list": ["list"]}
    works = {name: (partial(run, start, *words), 1) for name, words in commands.items()}
    works["boot"] = (partial(_woken(folder, start), "boot"), 1)
    times = interleave(
        {"nothing": (partial(run, [sys.executable], "-c", "pass"), 1)} | works, rounds=rounds, clock=wall
    )
    for name, what, limit in (
        ("--version", "`indelible --version`", 2.0), ("verify", "`indelible verify KEY`", 4.0),
        ("boot", "`indelible boot` of a full state directory", 4.0),
        ("list", "for comparison, a verb that takes the way through click: `indelible list`", None),
    ):  # fmt: skip
        found = ratio(times[name], times["nothing"])
        measured = f"{found.median:.2f} x (of the least times {found.least:.2f}; {times[name].median * 1e3:.0f} ms)"
        reached = None if limit is None else min(found) <= limit
        yield Row(
            f"cold start, {what}, against `python -c pass`",
            measured,
            "–" if limit is None else f"<= {limit:g} x",
            reached,
        )


def hooks(folder: str, rounds: int = ROUNDS) -> Iterator[Row]:
    """What a tool call waits for: the hook program as pip installs it, given an event of a real host."""
    start, program = installed("indelible", "indelible"), installed("indelible-hook", "indelible.hosts.hook")
    compileall.compile_dir(os.path.dirname(indelible.__file__), quiet=2)
    _woken(folder, start)
    place, environment = os.path.join(folder, "repository"), environment_of(folder)
    fire = partial(_fire, place, environment, program)
    fire("SessionStart", {"source": "startup"})
    works = {
        "passes": {"tool_name": "Bash", "tool_input": {"command": "npm test && git add -A"}},
        "denies": {"tool_name": "Write", "tool_input": {"file_path": f"{place}/.indelible/state/00_governance.md", "content": "-"}},
    }  # fmt: skip
    times = interleave(
        {"nothing": (partial(_run, place, environment, [sys.executable], "-c", "pass"), 1)}
        | {name: (partial(fire, "PreToolUse", event), 1) for name, event in works.items()},
        rounds=rounds * 8, clock=wall,
    )  # fmt: skip
    for name, what in (("passes", "lets a command pass"), ("denies", "denies a write to a slot")):
        found = ratio(times[name], times["nothing"])
        late, idle = (quantiles(times[one].seconds, n=100)[98] / times["nothing"].median for one in (name, "nothing"))
        yield Row(
            f"hook decision that need not look at git, whole process, which {what}, against `python -c pass`",
            f"{found.median:.2f} x, p99 {late:.2f} x (of the least times {found.least:.2f}; {times[name].median * 1e3:.0f} ms; "
            f"p99 of `python -c pass` itself {idle:.2f} x)",
            "<= 2.5 x, p99 <= 4 x",
            min(found) <= 2.5 and late <= 4,
        )


def installed(name: str, module: str) -> list[str]:
    """The console script beside this Python; where there is none, the module."""
    command = os.path.join(os.path.dirname(sys.executable), name)
    return [command] if os.path.exists(command) else [sys.executable, "-m", module]


def _fire(place: str, environment: dict[str, str], program: list[str], event: str, more: dict[str, object]) -> None:
    sent = {
        "session_id": "0a5ed417-85b3-4d7b-a837-6dc09e7a36e2", "transcript_path": f"{place}/transcript.jsonl", "cwd": place,
        "permission_mode": "acceptEdits", "hook_event_name": event, **more,
    }  # fmt: skip
    ended = subprocess.run(
        [*program, "claude-code", event], input=json.dumps(sent).encode(), cwd=place, env=environment, capture_output=True,
        check=False,
    )  # fmt: skip
    assert ended.returncode == (2 if "file_path" in str(more) else 0), ended


def _woken(folder: str, start: list[str]) -> Callable[..., None]:
    """A repository with a MEMORY.md and the five state files, one of them appended to; gives what runs a command in it."""
    place = os.path.join(folder, "repository")
    environment = environment_of(folder)
    subprocess.run(["git", "init", "-q", place], check=True, env=environment)
    run = partial(_run, place, environment, start)
    run("init")
    texts = {
        "10": "# Ticket\n\nIssue: DEMO-12 목록을 날짜순으로 정렬한다\n\n## Requirements\n" + "- 같은 날짜는 이름순이다\n" * 8,
        "20": "# Approved plan\n\n" + "".join(f"{step}. write the test, then make it pass\n" for step in range(1, 16)),
        "30": _round(1), "99": "Current Target: 3\nLast Completed Step: test\nNext Permitted Action: change sorter\n",
    }  # fmt: skip
    for name, text in texts.items():
        run("state", "write", name, _file(place, "text", text))
    for number in range(2, 8):
        run("state", "append", "30", _file(place, "text", _round(number)))
    run("save", "MEMORY.md", _file(place, "MEMORY.md", "결정: the release branch is cut on Thursday.\n" * 10))
    run("boot")  # the first one after a write reads how the slots came there, and remembers it
    return run


def _round(number: int) -> str:
    words = "Blocked: the sorter mutates its input, and the caller's list loses its order.\n"
    return f"## Round {number}: rejected\n{words}다시 시도하지 않는다: 제자리 정렬을 감싸는 방법\n"


def _file(folder: str, name: str, text: str) -> str:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def environment_of(folder: str) -> dict[str, str]:
    """What a command is started with: a home of its own, and nothing of whoever runs the benchmark."""
    homes = {
        name: os.path.join(folder, name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    }
    paths = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    return (
        {name: os.environ[name] for name in KEPT if name in os.environ}
        | homes
        | paths
        | {"HOME": folder, "GIT_CEILING_DIRECTORIES": folder}
    )


def _run(folder: str, environment: dict[str, str], start: list[str], *words: str) -> None:
    subprocess.run(
        [*start, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )
