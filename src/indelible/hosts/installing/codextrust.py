"""Whether Codex trusts our hooks: it is asked itself, and trust is written down only where the user says so.

Codex skips a hook that it does not trust without a word. `codex app-server` (JSON-RPC, one document a line) lists the hooks
that it finds for a folder, each with its current digest and whether that is trusted. What is trusted stands in the user's
`config.toml`, as tables `[hooks.state."FILE:EVENT:GROUP:INDEX"]` with a `trusted_hash`. That file is only ever added to, at
its end and between marks of ours, and what comes out is parsed again before it is written.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import tomllib
from queue import Empty, Queue
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import IndelibleError, UsageError
from indelible.hosts.installing.calling import is_hook

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BEGIN, END = "# indelible: begin (trusted hooks)", "# indelible: end"
PATIENCE = 30.0
"""Seconds for all that is asked."""
_HELLO = {
    "clientInfo": {"name": "indelible", "title": "Indelible", "version": "1"}, "capabilities": {"experimentalApi": True},
}  # fmt: skip


class Listed(NamedTuple):
    """One hook of ours, as Codex sees it."""

    key: str
    event: str
    source: str
    """The file that it comes from."""
    digest: str
    trust: str
    """`trusted`, `untrusted`, `modified`, `managed`, or what a newer Codex says."""
    enabled: bool

    @property
    def runs(self) -> bool:
        return self.enabled and self.trust in ("trusted", "managed")


def ask(program: str, folder: str, environ: Mapping[str, str]) -> tuple[Listed, ...]:
    """Our hooks in `folder`, as Codex lists them.

    Args:
        program: the path of `codex`.
        environ: its own, which says where the user's folder of Codex is.

    Raises:
        IndelibleError: it did not answer, or not sensibly.
    """
    try:
        answer = _converse(program, folder, environ)
        hooks = [hook for entry in answer["data"] for hook in entry["hooks"] if is_hook(hook.get("command"), "codex")]
        return tuple(
            Listed(str(one["key"]), str(one["eventName"]), str(one["sourcePath"]), str(one["currentHash"]),
                   str(one["trustStatus"]), bool(one.get("enabled", True)))
            for one in hooks
        )  # fmt: skip
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as exc:
        raise IndelibleError(
            f"Codex could not be asked for its hooks ({type(exc).__name__}: {exc})",
            remedy="Look at them in Codex: '/hooks'",
        ) from exc


def _converse(
    program: str, folder: str, environ: Mapping[str, str]
) -> dict[str, list[dict[str, list[dict[str, object]]]]]:
    process = subprocess.Popen(
        [program, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
        env=dict(environ), start_new_session=True,
    )  # fmt: skip
    lines: Queue[bytes] = Queue()
    reader = threading.Thread(target=_drain, args=(process, lines), daemon=True)
    reader.start()
    try:
        _call(process, lines, 1, "initialize", _HELLO)
        result = _call(process, lines, 2, "hooks/list", {"cwds": [folder]})
    finally:
        _end(process)
        reader.join(5)
    return result  # type: ignore[return-value]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, at which it ends; else end it, with what it started: `codex` may be a wrapper around the program."""
    try:
        if process.stdin is not None:
            process.stdin.close()
        process.wait(3)
    except (OSError, subprocess.TimeoutExpired):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


def _drain(process: subprocess.Popen[bytes], lines: Queue[bytes]) -> None:
    if process.stdout is not None:
        with process.stdout as stream:
            for line in stream:
                lines.put(line)
    lines.put(b"")


def _call(process: subprocess.Popen[bytes], lines: Queue[bytes], number: int, method: str, params: object) -> object:
    if process.stdin is None:
        raise OSError("no way in")
    process.stdin.write(json.dumps({"id": number, "method": method, "params": params}).encode() + b"\n")
    process.stdin.flush()
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except Empty:
            raise TimeoutError(f"no answer within {PATIENCE:.0f} s") from None
        if not line:
            raise OSError(f"it ended without an answer to {method}")
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]


def trusting(config: str, hooks: Iterable[Listed]) -> str:
    """The text of `config.toml` in which those hooks are trusted, as they are now.

    Raises:
        UsageError: it is no TOML, or trust for one of them stands there already in words that are not ours.
    """
    bare = _bare(config)
    before = _parse(bare)
    wanted = {hook.key: hook.digest for hook in hooks if not _is_trusted(before, hook.key, hook.digest)}
    return _written(config, bare, {**_ours(config), **wanted})


def without(config: str, source: str) -> str:
    """The text without what we added about the hooks that come from one file.

    Raises:
        UsageError: it is no TOML.
    """
    kept = {key: trusted for key, trusted in _ours(config).items() if not key.startswith(f"{source}:")}
    return config if kept == _ours(config) else _written(config, _bare(config), kept)


def _written(config: str, bare: str, trusted: Mapping[str, str]) -> str:
    if trusted == _ours(config):
        return config
    if not trusted:
        return bare
    newline = "\r\n" if "\r\n" in config else "\n"
    lines = [
        line
        for key, digest in trusted.items()
        for line in (f"[hooks.state.{_basic(key)}]", f"trusted_hash = {_basic(digest)}")
    ]
    joint = "" if not bare or bare.endswith("\n") else newline
    added = bare + joint + newline.join([BEGIN, *lines, END, ""])
    try:
        after = _parse(added)
    except UsageError as error:
        raise UsageError(
            "config.toml has other words about one of these hooks, and it is only ever added to",
            remedy="Trust them in Codex: '/hooks'",
        ) from error
    if not all(_is_trusted(after, key, digest) for key, digest in trusted.items()):
        raise UsageError("config.toml cannot be added to at its end", remedy="Trust the hooks in Codex: '/hooks'")
    return added


def _span(config: str) -> tuple[int, int]:
    """Where our part begins and ends; an empty one at the end where there is none."""
    start = config.find(BEGIN)
    stop = config.find(END, start)
    if start < 0 or stop < 0:
        return len(config), len(config)
    stop += len(END)
    stop += config.startswith("\r", stop)
    return start, stop + config.startswith("\n", stop)


def _bare(config: str) -> str:
    start, stop = _span(config)
    return config[:start] + config[stop:]


def _ours(config: str) -> dict[str, str]:
    """Key to digest of what we said is trusted."""
    start, stop = _span(config)
    found: object = _parse(config[start:stop])
    for name in ("hooks", "state"):
        found = found.get(name) if isinstance(found, dict) else None
    tables = found.items() if isinstance(found, dict) else ()
    return {str(key): str(table.get("trusted_hash")) for key, table in tables if isinstance(table, dict)}


def _parse(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise UsageError(f"config.toml is broken: {exc}", remedy="Mend it; Codex does not read it as it is") from exc


def _is_trusted(config: dict[str, object], key: str, digest: str) -> bool:
    value: object = config
    for name in ("hooks", "state", key, "trusted_hash"):
        value = value.get(name) if isinstance(value, dict) else None
    return value == digest


def _basic(text: str) -> str:
    """A basic string of TOML, which JSON's escapes fit but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def config_of(home: str) -> str:
    """The user's `config.toml`."""
    return os.path.join(home, "config.toml")
