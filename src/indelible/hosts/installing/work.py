"""Install and uninstall for one host: its hooks, its rule, its status line, laid on a desk and then down, in one go."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable  # noqa: TC003 - a NamedTuple's default is made of it
from typing import TYPE_CHECKING, NamedTuple

from indelible.errors import UsageError
from indelible.hosts.installing import jsontext, merging, plugins, rule
from indelible.hosts.installing.calling import STATUSLINE, caller, line
from indelible.hosts.installing.desk import Desk, digest
from indelible.hosts.installing.targets import TARGETS, file_of, folder_of
from indelible.hosts.installing.traces import Trace, Traces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indelible.hosts.host import Host
    from indelible.hosts.installing.desk import Edit, Laid
    from indelible.hosts.installing.jsontext import Path
    from indelible.hosts.installing.targets import Machine, Statusline


class Wanted(NamedTuple):
    """What an installation is to have."""

    rule: rule.Rule | None
    """None to leave the instruction files alone."""
    statusline: bool = True
    is_sealed: Callable[[str], bool] = lambda _: False
    """Whether a file of the project, by its name from the top, is a memory as well."""


class Plan(NamedTuple):
    """What would be done for one host, in one scope."""

    host: Host
    scope: str
    edits: tuple[Edit, ...]
    lay_down: Callable[[], tuple[Laid, ...]]
    notes: tuple[str, ...]
    """What a person should know, or still do."""


class Work:
    """One host in one scope.

    Raises:
        UsageError: there is no project here.
    """

    def __init__(self, machine: Machine, host: Host, scope: str) -> None:
        self._machine, self._host, self._scope, self._target = machine, host, scope, TARGETS[host.name]
        self.file = file_of(machine, scope, host.name)
        self.desk = Desk(machine.state_dir, machine.top if scope == "project" else None)
        self._traces = Traces(machine.state_dir)
        self._made: dict[str, tuple[Path, ...]] = {}
        self._shared: list[tuple[str, Trace]] = []
        """Traces of files that stay as they are, and serve one host less or more."""

    def install(self, wanted: Wanted) -> Plan:
        """Put everything in that is missing or not as it is now.

        Raises:
            UsageError: a file is broken, has comments that the host would choke on, or is no file.
        """
        notes = []
        if self._target.shape is None:
            self._put_plugin()
        else:
            self._settings(self.file, self._merged)
        if wanted.statusline and self._target.statusline is not None:
            notes += self._put_statusline(self._target.statusline)
        if wanted.rule is not None:
            notes += self._put_rule(wanted, wanted.rule)
        return Plan(self._host, self._scope, self.desk.edits(), self._lay_down, (*notes, *self._notes()))

    def uninstall(self) -> Plan:
        """Take out what is ours, and nothing else.

        Raises:
            UsageError: a file is broken.
        """
        notes: list[str] = []
        if self._target.shape is None:
            notes = self._take_plugin_out()
        else:
            self._take_out(self.file, merging.take_out)
        if (status := self._target.statusline) is not None and (path := self._statusline_file(status)):
            self._take_out(path, lambda text, made: merging.take_statusline_out(text, status.path, made or ()))
        for path in self._rule_files():
            self._take_rule_out(path)
        return Plan(self._host, self._scope, self.desk.edits(), self._lift, tuple(notes))

    # The settings.

    def _settings(self, path: str, change: Callable[[str], merging.Merged]) -> None:
        before = self.desk.read(path)
        bom, text = decoded(path, before)
        with _Named(path):
            document = jsontext.parse(text) if text.strip() else None
            if document is not None and self._target.is_strict and not document.is_strict:
                raise UsageError(
                    f"There are comments or a comma too many, and {self._host.title} reads no such file",
                    remedy="Take them out, and run it again",
                )
            merged = change(text)
        self._made[path] = (*self._made.get(path, ()), *merged.made)
        self.desk.write(path, bom + merged.text.encode("utf-8", "surrogatepass"))

    def _merged(self, text: str) -> merging.Merged:
        call = caller(self._machine.programs.hook, self._host.name)
        return merging.merge(text, self._target.shape(self._host, call) if self._target.shape else {})

    def _take_out(self, path: str, change: Callable[[str, tuple[Path, ...] | None], str]) -> None:
        now = self.desk.read(path)
        if now is None:
            return
        real = self.desk.real(path)
        restored, original = self._traces.original(real, now)
        trace = self._traces.get(real)
        if restored and not _has_ours(original):
            self.desk.write(path, original)
            return
        bom, text = decoded(path, now)
        with _Named(path):
            text = change(text, trace.made if trace else None) if text.strip() else text
            is_empty = not text.strip() or not jsontext.parse(text).root.names
        gone = is_empty and trace is not None and trace.before is None
        self.desk.write(path, None if gone else bom + text.encode("utf-8", "surrogatepass"))

    # The status line.

    def _put_statusline(self, status: Statusline) -> list[str]:
        path = self._statusline_file(status)
        if not path or (status.needs_file and self.desk.read(path) is None):
            return []
        if other := self._others_statusline(status):
            return [f"{other} has a status line already, which stays; ours is 'indelible hooks statusline'"]
        command = line(self._machine.programs.main, *STATUSLINE)
        self._settings(path, lambda text: merging.set_statusline(text, status.path, command))
        return []

    def _others_statusline(self, status: Statusline) -> str:
        """The file in which the user has a status line that is not ours; a project's would hide the user's."""
        names = [os.path.join(self._machine.places.folders[self._host.name], status.user)]
        if self._machine.top is not None and status.project:
            project = os.path.join(self._machine.top, status.project)
            names += [project, project.replace(".json", ".local.json")]
        look = Desk(self._machine.state_dir, None)  # the user's file is looked at for a project too
        for name in names:
            try:
                _, text = decoded(name, look.read(name))
                document = jsontext.parse(text) if text.strip() else None
            except UsageError:
                continue  # said where it is to be changed
            if document is not None and document.find(status.path) is not None:
                if not merging.has_statusline(document, status.path):
                    return name
                if name != self._statusline_file(status):
                    return ""
        return ""

    def _statusline_file(self, status: Statusline) -> str:
        below = status.user if self._scope == "user" else status.project
        return os.path.join(folder_of(self._machine, self._scope, self._host.name), below) if below else ""

    # The plugin.

    def _put_plugin(self) -> None:
        for path, content in self.plugin_files().items():
            now = self.desk.read(path)
            if now is not None and not self._is_our_plugin():
                raise UsageError(
                    f"{path} is there, and was not written by us", remedy="Move it away, and run it again", file=path
                )
            self.desk.write(path, content)

    def _take_plugin_out(self) -> list[str]:
        if not self._is_our_plugin():
            there = os.path.lexists(self.file)
            return [f"{self.file} was not written by us, and stays"] if there else []
        for path in self.plugin_files():
            self.desk.write(path, None)
        return []

    def _is_our_plugin(self) -> bool:
        script = next(path for path in self.plugin_files() if path.endswith(".js"))
        content = self.desk.before(script)
        return content is None or plugins.is_ours(content)

    def plugin_files(self) -> dict[str, bytes]:
        files = plugins.plugin_of(self._host, self._machine.programs.hook)
        if self._host.name == "opencode":
            return {self.file: files[plugins.OPENCODE_FILE]}
        return {os.path.join(self.file, *name.split("/")): content for name, content in files.items()}

    # The rule.

    def _put_rule(self, wanted: Wanted, words: rule.Rule) -> list[str]:
        path = self._rule_file()
        if path is None:
            return [f"{self._host.title} documents no file of rules for a user: the rule is not there"]
        before = self.desk.read(path)
        with _Named(path):
            after = rule.put(before, words)
        self.desk.write(path, after)
        name = os.path.relpath(path, self._machine.top or os.sep)
        if self._scope == "user" or after == before or not wanted.is_sealed(name):
            return []
        return [
            f"{name} is sealed, and is not what was sealed any more: 'indelible save {name} {name}' seals it as it is now"
        ]

    def _rule_file(self) -> str | None:
        """The file that the host reads already; else the one that it likes best.

        Claude Code reads AGENTS.md only where there is no CLAUDE.md: making one would hide what stands in the other.
        """
        files = self._rule_files()
        return next((path for path in files if os.path.lexists(path)), files[0] if files else None)

    def _rule_files(self) -> list[str]:
        folder = folder_of(self._machine, self._scope, self._host.name)
        names = self._target.rules if self._scope == "project" else (self._target.user_rule,)
        return [os.path.join(folder, *name.split("/")) for name in names if name]

    def _take_rule_out(self, path: str) -> None:
        """Unless another host that is installed here reads it too."""
        now = self.desk.read(path)
        if now is None or not rule.is_in(now):
            return
        real = self.desk.real(path)
        trace = self._traces.get(real)
        if trace is not None and self._host.name not in trace.hosts:
            return
        others = tuple(name for name in trace.hosts if name != self._host.name) if trace is not None else ()
        if trace is not None and others:
            self._shared.append((real, trace._replace(hosts=others)))
            return
        restored, original = self._traces.original(real, now)
        with _Named(path):
            left = original if restored and not rule.is_in(original) else rule.take_out(now)
        is_made = trace is not None and trace.before is None and not (left or b"").strip()
        self.desk.write(path, None if is_made else left)

    # Laying it down.

    def _lay_down(self) -> tuple[Laid, ...]:
        folders = {edit.path: _missing(edit.real) for edit in self.desk.edits()}
        laid = self.desk.lay_down()
        for one in laid:
            self._remember(one, folders[one.edit.path])
        for path in self._rule_files():
            self._share(path)
        return laid

    def _remember(self, laid: Laid, folders: tuple[str, ...]) -> None:
        edit, trace = laid.edit, self._traces.get(laid.edit.real)
        after, before = digest(edit.after or b""), None if edit.before is None else digest(edit.before)
        made = self._made.get(edit.path, ())
        if trace is None or edit.before is None:  # what was known of a file that is gone says nothing of this one
            trace = Trace(
                "" if _is_marked(edit.before) else before, after, laid.backup, made, (self._host.name,), folders
            )
        else:
            first = trace.before if trace.after == before else ""
            known = tuple(dict.fromkeys((*trace.made, *made)))
            hosts = tuple(dict.fromkeys((*trace.hosts, self._host.name)))
            trace = Trace(first, after, trace.backup, known, hosts, (*folders, *trace.folders))
        self._traces.put(edit.real, trace)

    def _share(self, path: str) -> None:
        """An instruction file that was right already serves this host too."""
        real = self.desk.real(path)
        trace = self._traces.get(real)
        if trace is not None and self._host.name not in trace.hosts and path == self._rule_file():
            self._traces.put(real, trace._replace(hosts=(*trace.hosts, self._host.name)))

    def _lift(self) -> tuple[Laid, ...]:
        laid = self.desk.lay_down()
        for one in laid:
            trace = self._traces.get(one.edit.real)
            self._traces.forget(one.edit.real)
            for folder in trace.folders if trace is not None and one.edit.after is None else ():
                _remove_empty(folder)
        for real, trace in self._shared:
            self._traces.put(real, trace)
        return laid

    def _notes(self) -> Iterable[str]:
        note = self._target.notes.get(self._scope)
        if note:
            yield note
        if not self._target.fires_after_compaction:
            yield after_compaction(self._host)


def after_compaction(host: Host) -> str:
    """What is so of a host that has no event after compaction."""
    from indelible.hosts.host import AFTER_TOOL, PROMPT, START

    purposes = {one.purpose for one in host.hooked}
    channels = [word for purpose, word in ((PROMPT, "prompt"), (AFTER_TOOL, "tool result")) if purpose in purposes]
    channels = channels or ["model call"] * (START in purposes)  # a start that fires before each of them
    how = (
        f"the briefing is given again at the next {' or '.join(channels)}" if channels else "no hook can give it again"
    )
    return f"{host.title} has no event after compaction: {how}, and the rule in its instruction file says to run 'indelible boot'"


class _Named:
    """Puts the name of the file before what is wrong with it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, UsageError) and not error.message.startswith(self._path):
            error.message = f"{self._path}: {error.message[:1].lower()}{error.message[1:]}"
            error.remedy = error.remedy or "Mend it, or move it away, and run it again"
            error.facts["file"] = self._path


def decoded(path: str, content: bytes | None) -> tuple[bytes, str]:
    """The byte order mark, and the text behind it."""
    content = content or b""
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return bom, content[len(bom) :].decode("utf-8")
    except UnicodeDecodeError as exc:
        raise UsageError(
            f"{path} is not UTF-8 text (at byte {exc.start + len(bom)})", remedy="Save it as UTF-8, or move it away", file=path
        ) from exc  # fmt: skip


def _is_marked(content: bytes | None) -> bool:
    """Whether a file had something of ours in it already: then its bytes are not those of before us."""
    words = (b"indelible-hook", b"hooks statusline", rule.BEGIN.encode(), rule.BEGIN.encode("utf-16-le"))
    return content is not None and any(word in content for word in words)


def _has_ours(content: bytes | None) -> bool:
    return content is not None and bool(
        merging.entries(jsontext.parse(decoded("", content)[1])) if content.strip() else ()
    )


def _missing(real: str) -> tuple[str, ...]:
    """Folders above a file that are not there yet, the innermost first."""
    missing = []
    folder = os.path.dirname(real)
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return
