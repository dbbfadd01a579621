"""What each client really sends to its hooks, as files:  HOST_CLIENTS=FOLDER python -m tests.clients.record TARGET [HOST…]

Writes TARGET/HOST/NN-EVENT.json, one document for each kind of event in the order in which it first came; paths of this
machine are replaced by `/home/me` and `/home/me/project`.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.clients import tap
from tests.clients.drivers.codex import Codex
from tests.clients.drivers.gemini import Gemini
from tests.clients.drivers.table import DRIVERS
from tests.clients.model import Model
from tests.clients.sandbox import Sandbox

if TYPE_CHECKING:
    from tests.clients.drivers.driver import Driver


def record(clients: Path, driver: Driver, box: Sandbox, model: Model) -> list[dict[str, Any]]:
    """Everything that a session with tools and a compaction tells a hook, in order: `event`, `sent`, `answered`."""
    log, plan = box.root / "log.jsonl", box.root / "plan.json"
    plan.write_text("[]", encoding="utf-8")
    driver.record(box, shlex.join([sys.executable, os.path.abspath(tap.__file__), str(log), str(plan)]))
    if isinstance(driver, Codex):
        driver.trust(clients, box)
    note = box.project / "note.txt"
    name = note.name if isinstance(driver, Codex) else str(note)
    model.follow(
        driver.compacting(driver.write(name, "one\n"), driver.edit(name, "one", "two"), driver.read(str(note)))
    )
    if isinstance(driver, Gemini):
        driver.talk(clients, box, model, ("good morning", 1), ("go on", 1), ("make a note", 6))
    else:
        ended = driver.run(clients, box, model, "make a note")
        assert ended.code == 0, ended
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def kind(one: dict[str, Any]) -> str:
    """What tells one kind of event from another: its name, and its source, trigger, tool or type."""
    sent = one["sent"]
    more = [sent.get(name) for name in ("source", "trigger", "tool_name", "toolName")]
    more += [sent["input"].get(name) for name in ("type", "tool") if isinstance(sent.get("input"), dict)]
    return "-".join([one["event"], *(str(word) for word in more if word)])


def main(target: Path, hosts: list[str]) -> int:
    """Record every host that is named, or all of them."""
    clients = Path(os.environ["HOST_CLIENTS"])
    for driver in DRIVERS:
        if hosts and driver.host not in hosts:
            continue
        with tempfile.TemporaryDirectory() as root, Model() as model:
            box = Sandbox(Path(root) / "box")
            driver.ready(box, model)
            first: dict[str, Any] = {}
            for one in record(clients, driver, box, model):
                first.setdefault(kind(one), one["sent"])
            folder = target / driver.host
            folder.mkdir(parents=True, exist_ok=True)
            for number, (name, sent) in enumerate(first.items()):
                text = json.dumps(sent, indent=2, ensure_ascii=False)
                text = text.replace(str(box.project), "/home/me/project").replace(str(box.home), "/home/me")
                text = text.replace(str(box.project).replace("/", "-"), "-home-me-project").replace(
                    model.url, "http://127.0.0.1:1"
                )
                (folder / f"{number:02d}-{name}.json").write_text(text + "\n", encoding="utf-8")
            sys.stdout.write(f"{driver.host}: {len(first)} kinds of events\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
