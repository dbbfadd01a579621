"""The main job on real files, with the installed command: save, verify, tamper, refuse, restore, serve.

Everything below really happens, in a scratch folder with a home of its own. The demo fails if any step
does not come out as it says.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import apsw

INDELIBLE = str(Path(sys.executable).with_name("indelible"))
MEMORY = """# MEMORY

- 우선순위: 배포 전에 체크섬을 확인한다
- Rule: never push without the human's approval
- State: ticket 320 is in review, round 2
"""


def main() -> None:
    """Run every step in a scratch folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="indelible-demo-") as folder:
        Demo(Path(folder)).run()


class Demo:
    """One run, in one scratch folder."""

    def __init__(self, root: Path) -> None:
        self.repo = root / "app"
        self.repo.mkdir()
        keep = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
        }
        homes = {
            "HOME": root,
            "XDG_CONFIG_HOME": root / "config",
            "XDG_STATE_HOME": root / "state",
            "XDG_DATA_HOME": root / "data",
        }
        self.env = keep | {name: str(path) for name, path in homes.items()} | {"GIT_CONFIG_NOSYSTEM": "1"}

    def run(self) -> None:
        """The steps, in order."""
        self.say("1. A repository with a MEMORY.md, committed")
        (self.repo / "MEMORY.md").write_text(MEMORY, encoding="utf-8")
        for words in (["init", "-q", "-b", "main"], ["add", "MEMORY.md"], ["-c", "user.name=Demo", "-c", "user.email=demo@example.org", "commit", "-qm", "memory"],
                      ["remote", "add", "origin", "https://git.example.org/demo/app.git"]):  # fmt: skip
            self.git(*words)
        self.say("2. Seal it")
        self.indelible("--agent", "eros", "init")
        self.indelible("save-file", "MEMORY.md", "MEMORY.md")
        self.indelible("verify", "MEMORY.md")
        self.say("3. Somebody writes to the store behind our back: one word in the database file")
        self.tamper()
        self.indelible("verify", "MEMORY.md", code=2)
        self.indelible("load", "MEMORY.md", code=2)
        self.indelible("incident", code=2)
        self.say("4. Restore it from its git source, and look again")
        self.indelible("restore", "MEMORY.md", "--from-git", "--reason", "the store's copy was altered")
        self.indelible("verify", "MEMORY.md", "MEMORY.md")
        self.indelible("history", "MEMORY.md")
        self.indelible("audit")
        self.say("5. Serve the Memory API to a plain HTTP client")
        self.serve()
        self.say("Done: every step came out as it should.")

    def tamper(self) -> None:
        store = apsw.Connection(str(self.repo / ".indelible" / "store.db"))
        store.execute(
            "UPDATE record SET content = CAST(replace(CAST(content AS TEXT), 'never push', 'always push') AS BLOB)"
        )
        store.close()
        print("$ UPDATE record SET content = replace(content, 'never push', 'always push')")

    def serve(self) -> None:
        key = json.loads(self.indelible("apikey", "create", "eros", "--json", show=False))["key"]
        print(f'$ indelible apikey create eros --json\n{{"key": "{key[:6]}…"}}  (shown once)')
        server = subprocess.Popen(
            [INDELIBLE, "serve", "--port", "0"], cwd=self.repo, env=self.env, stderr=subprocess.PIPE, text=True
        )
        try:
            address = self.address(server)
            body = {"agent": "eros", "key": "HANDOFF.md", "content": "다음: 320 리뷰"}
            print(
                f"$ POST /memory/save {json.dumps(body, ensure_ascii=False)}\n{self.http(address + '/memory/save', key, body)}"
            )
            print(
                f"$ GET /memory/load?agent=eros&key=HANDOFF.md\n{self.http(address + '/memory/load?agent=eros&key=HANDOFF.md', key)}"
            )
            print(
                f"$ GET /memory/load?agent=eros&key=HANDOFF.md.sha256\n{self.http(address + '/memory/load?agent=eros&key=HANDOFF.md.sha256', key)}"
            )
        finally:
            server.terminate()
            server.wait(timeout=20)
        self.indelible("verify", "HANDOFF.md")

    def address(self, server: subprocess.Popen[str]) -> str:
        for line in server.stderr or ():
            if "http://" in line:
                print(f"$ indelible serve --port 0\n{line.rstrip()}")
                return "http://" + line.split("http://")[1].split()[0].rstrip("/.,")
        raise SystemExit("The server said no address")

    def http(self, url: str, key: str, body: dict[str, str] | None = None) -> str:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(url, data=data, headers={"x-api-key": key, "Content-Type": "application/json"})  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own server
            return answer.read().decode()

    def indelible(self, *words: str, code: int = 0, show: bool = True) -> str:
        done = subprocess.run(
            [INDELIBLE, *words],
            cwd=self.repo,
            env=self.env,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if show:
            print("$ indelible " + shlex.join(words))
            print((done.stdout + done.stderr).rstrip() + f"\n[exit {done.returncode}]")
        if done.returncode != code:
            raise SystemExit(f"That should have been exit {code}: {done.stdout}{done.stderr}")
        return done.stdout

    def git(self, *words: str) -> None:
        print("$ git " + " ".join(words))
        subprocess.run(["git", *words], cwd=self.repo, env=self.env, check=True)

    def say(self, title: str) -> None:
        width = shutil.get_terminal_size().columns
        print(f"\n{title}\n{'-' * min(len(title), width)}", flush=True)


if __name__ == "__main__":
    main()
