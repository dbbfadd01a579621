"""A yes from another machine: asked for through a server, looked at in a clone, handed in, and used where the change is."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import indelible_command
from tests.serving import home_of
from tests.stepping.sites import OKS, PASSPHRASE, PLAN, TICKET
from tests.support import signer_of
from tests.workflow.test_receipt import RECEIPT

from indelible import settings
from indelible.server.apikeys import VERBS
from indelible.wiring import keystore
from indelible.workflow.receipt import receipt_id, sign_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.serving import Served

MINA = signer_of("indelible-approver/mina")


@dataclass
class Machine:
    """A person's or an agent's machine, which reaches the server."""

    root: Path
    served: Served
    api_key: str

    @property
    def top(self) -> Path:
        return self.root / "work"

    def tell(
        self, *words: str, text: bytes = b"", more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """The command, with the server as its store."""
        env = {
            **home_of(self.root), "INDELIBLE_STORE": self.served.url, "INDELIBLE_API_KEY": self.api_key, "INDELIBLE_AGENT": "eros",
            "GIT_CONFIG_GLOBAL": str(self.root / ".gitconfig"), **(more or {}),
        }  # fmt: skip
        return subprocess.run(
            [*indelible_command(), *words],
            input=text,
            env=env,
            cwd=self.top,
            capture_output=True,
            check=False,
            timeout=120,
        )

    def must(self, *words: str, text: bytes = b"", more: Mapping[str, str] | None = None) -> Any:
        """The command's one document; it has to end well."""
        ran = self.tell("--json", *words, text=text, more=more)
        assert ran.returncode == 0, ran
        return json.loads(ran.stdout)

    def approver(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return self.tell(*words, more={"INDELIBLE_PASSPHRASE_FILE": str(self.root / "passphrase")})


def machine(root: Path, served: Served) -> Machine:
    (root / "work").mkdir(parents=True)
    (root / ".gitconfig").write_text(
        "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    (root / "passphrase").write_text(PASSPHRASE + "\n")
    os.chmod(root / "passphrase", 0o600)
    made = Machine(root, served, served.key("eros", VERBS))
    with open(root / "server.pub", "w", encoding="utf-8") as file:
        file.write(served.client("eros").get("/v1/keys").json()["server_keys"][0])
    return made


def git(top: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def agent(served: Served, tmp_path: Path) -> Machine:
    """A machine with a change that is ready to be approved."""
    made = machine(tmp_path / "agent", served)
    git(made.top, "init", "-q")
    (made.top / "a.txt").write_text("one\n")
    git(made.top, "add", "-A")
    git(made.top, "commit", "-qm", "base")
    made.must("key", "trust", (made.root / "server.pub").read_text())
    made.must("state", "init")
    made.must("flow", "run", "0")
    made.must("state", "write", "10", text=TICKET)
    made.must("state", "write", "20", text=PLAN)
    (made.top / "new.txt").write_text("new\n")
    made.must("critic", "add", "--verdict", "approved", *OKS)
    return made


@pytest.fixture
def approver(agent: Machine, served: Served, tmp_path: Path) -> Machine:
    """A person's machine with a clone, whose key the server and the agent's machine know."""
    made = machine(tmp_path / "approver", served)
    git(made.root, "clone", "-q", str(agent.top), str(made.top))
    made.must("key", "trust", (made.root / "server.pub").read_text())
    made.must("key", "trust", served.client("eros").get("/v1/keys").json()["agent_keys"][0])
    ran = made.approver("--json", "key", "create", "mina", "--role", "approver")
    assert ran.returncode == 0, ran
    vkey = json.loads(ran.stdout)["vkey"]
    agent.must("key", "trust", vkey)
    keystore(served.settings).trust("indelible-approver/mina", vkey)
    return made


def test_what_is_asked_for_is_approved_elsewhere_and_counts_where_the_change_is(
    agent: Machine, approver: Machine
) -> None:
    asked = agent.tell("approve", "--ask")
    assert asked.returncode == 7, asked  # the plan was not approved
    asked = agent.tell("approve", "--ask", "--despite", "the plan was agreed on the phone")
    assert asked.returncode == 0, asked
    ran = approver.approver("approve", "--asked", "--yes")
    assert ran.returncode == 0, ran
    assert b"+new" in ran.stdout
    assert b"handed in" in ran.stdout
    found = agent.must("flow", "status")
    assert "receipt" not in {one["state"] for one in found["targets"]}
    (key,) = [one["key"] for one in agent.must("list")["memories"] if one["key"].startswith("flow/receipt/")]
    assert agent.tell("verify", key).returncode == 0


def test_a_clone_without_the_base_says_so(agent: Machine, approver: Machine) -> None:
    (agent.top / "a.txt").write_text("more\n")
    git(agent.top, "commit", "-qam", "more")
    assert agent.tell("approve", "--ask", "--despite", "a test").returncode == 0
    ran = approver.approver("approve", "--asked", "--yes")
    assert ran.returncode == 3, ran
    assert b"git fetch" in ran.stderr


def test_nobody_asked_is_said(approver: Machine) -> None:
    ran = approver.approver("approve", "--asked", "--yes")
    assert ran.returncode == 3, ran
    assert b"Nobody asked" in ran.stderr


def test_the_server_takes_receipts_of_approvers_whom_it_knows_and_of_nobody_else(served: Served) -> None:
    note = sign_receipt(RECEIPT, MINA)
    body = {"note": base64.b64encode(note).decode()}
    client = served.client("eros", VERBS)
    refused = client.post("/v1/receipt", json=body)
    assert (refused.status_code, refused.json()["slug"]) == (403, "unknown-approver")
    keystore(served.settings).trust(MINA.name, MINA.vkey)
    taken = client.post("/v1/receipt", json=body)
    assert taken.status_code == 200, taken.text
    again = client.post("/v1/receipt", json=body)
    assert (again.status_code, again.json()["seq"]) == (200, taken.json()["seq"])
    altered = note.replace(b"refs/heads/x", b"refs/heads/y")
    reply = client.post("/v1/receipt", json={"note": base64.b64encode(altered).decode()})
    assert reply.status_code in (403, 409), reply.text
    assert client.post("/v1/receipt", json={"note": base64.b64encode(b"hello\n").decode()}).status_code == 409
    with served.memory("eros") as memory:
        assert memory.fetch(f"flow/receipt/{receipt_id(note)}").content == note


def test_an_api_key_for_some_keys_hands_in_nothing_else(served: Served) -> None:
    keystore(served.settings).trust(MINA.name, MINA.vkey)
    body = {"note": base64.b64encode(sign_receipt(RECEIPT, MINA)).decode()}
    assert served.client("eros", VERBS, prefix="notes/").post("/v1/receipt", json=body).status_code == 403
    assert served.client("eros", verbs=("read", "write", "erase")).post("/v1/receipt", json=body).status_code == 403


@pytest.mark.parametrize(
    "key", ["flow/receipt/0123456789abcdef", "scar/SCAR-A-01", "flow/workflow.toml", "flow/stamp/state/7"]
)
def test_no_plain_save_through_the_server_makes_a_fact(served: Served, key: str) -> None:
    client = served.client("eros")
    for reply in (
        client.post("/memory/save", json={"key": key, "content": "x"}),
        client.put("/v1/memory", params={"key": key}, json={"content": "x"}),
    ):
        assert reply.status_code in (405, 409), reply.text
    assert settings.FOLDER
