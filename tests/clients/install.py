"""Brings the real clients from npm:  python -m tests.clients.install [CLIENT…]

    CLIENTS=FOLDER     where they go (else `indelible-hosts` in the user's cache folder)
    VERSION=latest     the newest ones, instead of those that the contracts were measured with

What cannot be brought is told in one line for each client, is written down beside it for the tests' skips, and is no
failure: the tests that need it are skipped with that reason. Packages' own scripts are not run. The folder where they are
goes to standard output.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_dir
from tests.clients.drivers.table import DRIVERS

if TYPE_CHECKING:
    from tests.clients.drivers.driver import Driver

WHY = "why-not.txt"
"""Beside a client that is not there: the reason."""
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET_TIMEOUT")
"""What npm says when there is no registry at the other end."""


def folder() -> Path:
    """Where the clients are, or go."""
    return Path(os.environ.get("CLIENTS") or user_cache_dir("indelible-hosts", appauthor=False))


def why_not(clients: Path, driver: Driver) -> str:
    """Why a client cannot be driven; empty where it can."""
    if driver.program(clients):
        return ""
    if not shutil.which("npm"):
        return f"{driver.host}: npm is not on the PATH (it comes with Node.js), so there is no {driver.package.name}"
    written = clients / driver.folder / WHY
    if written.exists():
        return written.read_text(encoding="utf-8").strip()
    return f"{driver.host}: {driver.package.name} is not installed for this machine; 'make test-hosts' installs it"


def main(names: list[str]) -> int:
    """Install what is missing; the exit code is 0 unless a name is unknown."""
    unknown = set(names) - {driver.host for driver in DRIVERS}
    if unknown:
        say(f"no client is called {', '.join(sorted(unknown))}; there are {', '.join(d.host for d in DRIVERS)}")
        return 64
    clients = folder()
    missing = [driver for driver in DRIVERS if driver.host in (names or driver.host) and not _is_there(clients, driver)]
    if missing and shutil.which("npm"):
        size = sum(driver.package.megabytes for driver in missing)
        say(
            f"{len(missing)} client{'s' * (len(missing) > 1)}, about {size} MB, go to {clients} (once; CLIENTS=… chooses another folder)"
        )
    reason = ""
    for driver in missing:
        reason = _refuse(clients, driver, reason) if reason else _install(clients, driver)
    for driver in DRIVERS:
        if text := why_not(clients, driver):
            say(f"skipped: {text}")
    sys.stdout.write(f"{clients}\n")
    return 0


def say(text: str) -> None:
    """A line for the person who waits."""
    sys.stderr.write(f"hosts: {text}\n")
    sys.stderr.flush()


def _wanted(driver: Driver) -> str:
    return "latest" if os.environ.get("VERSION") == "latest" else driver.package.version


def _is_there(clients: Path, driver: Driver) -> bool:
    if not driver.program(clients) or _wanted(driver) == "latest":
        return False
    manifest = clients / driver.folder / "node_modules" / driver.package.name / "package.json"
    return bool(json.loads(manifest.read_text(encoding="utf-8"))["version"] == driver.package.version)


def _install(clients: Path, driver: Driver) -> str:
    """Install one; returns the reason why the others need not be tried, empty where they may."""
    if not shutil.which("npm"):
        return ""
    place = clients / driver.folder
    place.mkdir(parents=True, exist_ok=True)
    (place / WHY).unlink(missing_ok=True)
    (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    named = f"{driver.package.name}@{_wanted(driver)}"
    errors = _watch(
        ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retry-mintimeout=1000", "--fetch-retries=1", named],
        place, f"{named}, about {driver.package.megabytes} MB",
    )  # fmt: skip
    if not errors:
        return ""
    line = next((line for line in errors.splitlines() if "npm error" in line), errors.splitlines()[0])
    unreachable = any(word in errors for word in UNREACHABLE)
    reason = "the npm registry cannot be reached" if unreachable else f"npm could not install it: {line.strip()}"
    _refuse(clients, driver, reason)
    return reason if unreachable else ""


def _refuse(clients: Path, driver: Driver, reason: str) -> str:
    place = clients / driver.folder
    place.mkdir(parents=True, exist_ok=True)
    (place / WHY).write_text(f"{driver.host}: {reason} ({driver.package.name})\n", encoding="utf-8")
    return reason


def _watch(command: list[str], place: Path, what: str) -> str:
    """Run npm and show how far it is; returns what it said on standard error if it failed, else nothing."""
    begun, live = time.monotonic(), sys.stderr.isatty()
    say(f"installing {what} …")
    with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        errors = None
        while errors is None:
            try:
                errors = process.communicate(timeout=1)[1]
            except subprocess.TimeoutExpired:
                if live:
                    sys.stderr.write(f"\r\033[Khosts:   {_megabytes(place)} MB, {time.monotonic() - begun:.0f} s")
    if live:
        sys.stderr.write("\r\033[K")
    if process.returncode:
        return errors or f"npm ended with {process.returncode}"
    say(f"installed {what.split(',', maxsplit=1)[0]} ({_megabytes(place)} MB, {time.monotonic() - begun:.0f} s)")
    return ""


def _megabytes(place: Path) -> int:
    total = 0
    for at, _, files in os.walk(place):
        for file in files:
            try:
                total += os.lstat(os.path.join(at, file)).st_size
            except OSError:  # npm moves files while it works
                continue
    return total // 1_000_000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
