"""The hook program: `indelible-hook HOST EVENT`, one document on standard input, one answer in the host's own form.

It always answers by itself and in time: a gate denies where anything is wrong with us, everything else passes and says so
(to the model, that memory was not loaded). A second thread answers for the first when our own deadline, half of the
host's, has passed. Exit codes: 0, 2 for a refusal in hosts that read it so, 64 for words that no installer writes.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from indelible.hosts.host import Contract, Event, Hooked, Reply

_PIECE = 1 << 20


def main() -> NoReturn:
    """Answer one event, and leave."""
    gc.disable()  # as for a command that is short-lived: to look for garbage takes a tenth of its time
    from indelible.hosts.host import NAMES
    from indelible.settings.folders import HOOK_DEPTH

    words = sys.argv[1:]
    if len(words) != 2 or words[0] not in NAMES:
        _leave("", f"Usage: indelible-hook HOST EVENT, with HOST one of {', '.join(NAMES)}", 64)
    contract: Contract = __import__(f"indelible.hosts.{words[0].replace('-', '_')}", fromlist=("HOST",))
    hooked = contract.HOST.hook(words[1])
    if hooked is None:
        _leave("", f"indelible-hook: {words[0]} has no event {words[1]} that is answered here", 64)
    inner, os.environ[HOOK_DEPTH] = bool(os.environ.get(HOOK_DEPTH)), "1"
    answering = _Answering(contract, hooked)
    _thread.start_new_thread(answering.watch, (hooked.seconds / 2,))
    answering.answer(lambda: _reply(contract, hooked, answering, inner=inner))


class _Answering:
    """Gives one answer, whoever of the two threads has it first."""

    def __init__(self, contract: Contract, hooked: Hooked) -> None:
        self.contract, self.hooked = contract, hooked
        self.first = _thread.allocate_lock()
        self.cwd = os.curdir
        """The event's folder, once it is known."""

    def watch(self, seconds: float) -> None:
        """Answer when the time is over."""
        time.sleep(seconds)
        self.give(self.failed(f"deadline: there was no answer within {seconds:g} s"))

    def answer(self, work: Callable[[], Reply]) -> NoReturn:
        """Do the work, and answer by what it comes to."""
        try:
            reply = work()
        except Exception as error:  # noqa: BLE001 - the door: a gate denies, everything else passes and says so
            reply = self.failed(_fault(error))
        self.give(reply)

    def give(self, reply: Reply) -> NoReturn:
        """Write it and end the process; whoever comes second waits for that end."""
        if not self.first.acquire(blocking=False):
            time.sleep(60)
        reply = _spelt(reply)
        if reply.failure:
            said = _note(f"{self.contract.HOST.name} {self.hooked.name} ({_place(self.cwd)}) {reply.failure}")
            reply = reply._replace(warning=" ".join(filter(None, (reply.warning, said))))
        made = self.contract.render(self.hooked, reply)
        _leave(made.stdout, made.stderr, made.code)

    def failed(self, fault: str) -> Reply:
        """What a fault of ours comes to."""
        from indelible.hosts.host import BEFORE_COMPACTION, GATES, SUBAGENT_STOP, Reply

        if self.hooked.purpose in GATES:
            return Reply(
                deny=f"Not done: Indelible could not judge this call ({fault}). Ask your human to look: 'indelible doctor'.",
                failure=fault,
            )
        if self.hooked.purpose in (BEFORE_COMPACTION, SUBAGENT_STOP):
            return Reply(failure=fault)
        return Reply(
            context=f"Indelible: memory was NOT loaded ({fault}). Do not act as if you knew the state of this work; run 'indelible boot', and tell your human if that fails too.",
            failure=fault,
        )


def _reply(contract: Contract, hooked: Hooked, answering: _Answering, *, inner: bool) -> Reply:
    """The answer to what stands on standard input."""
    from indelible.hosts.host import BEFORE_TOOL, Reply

    event = contract.parse(hooked, _input())
    if not event.cwd:
        event = event._replace(cwd=os.getcwd())
    answering.cwd = _checked(event.cwd)
    if inner and event.purpose != BEFORE_TOOL:
        return Reply()
    return _dispatch(contract, event, inner=inner)


def _checked(folder: str) -> str:
    """The folder, as it is.

    Raises:
        Unreadable: no file system has a folder of that name.
    """
    from indelible.hosts.document import Unreadable

    try:
        if b"\0" not in os.fsencode(folder):
            return folder
    except UnicodeEncodeError:
        pass
    raise Unreadable("the host sent a folder whose name no file system can have")


def _place(folder: str) -> str:
    """The place that a folder lies in; empty where nobody can tell, as where it was removed."""
    from indelible.hosts.whereabouts import place_of

    try:
        return place_of(folder)
    except (OSError, ValueError):
        return ""


def _dispatch(contract: Contract, event: Event, *, inner: bool) -> Reply:
    from indelible.hosts import host
    from indelible.hosts.world import World
    from indelible.settings.folders import home, user_folder

    world = World(contract.HOST, os.environ, home(os.environ), user_folder("state", os.environ), inner)
    if event.purpose == host.BEFORE_TOOL:
        from indelible.hosts.gating import before_tool

        return before_tool(event, world)
    if event.purpose == host.BEFORE_COMPACTION:
        from indelible.hosts.compacting import before_compaction

        return before_compaction(event, world, _now())
    if event.purpose == host.SUBAGENT_STOP:
        from indelible.hosts.returning import after_subagent

        return after_subagent(event, world)
    from indelible.hosts import informing

    if event.purpose == host.START:
        return informing.begin(event, world)
    if event.purpose == host.SUBAGENT_START:
        return informing.brief_child(event, world)
    return informing.remind(event, world)


def _spelt(reply: Reply) -> Reply:
    """Our own words, with the program as this machine has it; of a briefing, which is not ours to change, nothing."""
    if not (reply.deny or reply.context):
        return reply
    from indelible.hosts.naming import MAIN, named, spell

    program = named(os.environ, (sys.argv[0], sys.executable))
    if program == MAIN:
        return reply
    context = spell(reply.context, program) if reply.failure else reply.context
    if context:
        context = f"{context.rstrip()}\n\n'indelible' is not on the PATH here: it is {program}\n"
    return reply._replace(deny=spell(reply.deny, program), context=context)


def _input() -> bytes:
    """What the host sent; of what is far too long only so much that it can be seen to be."""
    from indelible.hosts.document import MOST

    pieces, size = [], 0
    while piece := os.read(0, _PIECE):
        size += len(piece)
        if size <= MOST + _PIECE:
            pieces.append(piece)
    return b"".join(pieces)


def _fault(error: Exception) -> str:
    """What went wrong, in one line and without content: of our own errors the message, of others the kind and the place."""
    from indelible.errors import IndelibleError
    from indelible.hosts.document import Unreadable

    if isinstance(error, IndelibleError):
        return f"{error.slug}: {error}"
    if isinstance(error, Unreadable):
        return f"bad-input: {error}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    return f"internal-error: {type(error).__name__}{place}"


def _note(text: str) -> str:
    """Write a failure down; answers with the line for standard error."""
    from indelible.errors import IndelibleError
    from indelible.hooklog import note_failure, one_line
    from indelible.settings.folders import user_folder

    try:
        unwritten = note_failure(user_folder("state", os.environ), _now(), text)
    except IndelibleError as error:
        unwritten = str(error)
    return one_line(f"indelible-hook: {text}" + (f" ({unwritten})" if unwritten else ""))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _leave(out: str, said: str, code: int) -> NoReturn:
    """Write both, and end at once: nothing of ours is left to tidy up, and a second thread may still wait."""
    _write(1, out)
    if said:
        _write(2, said.rstrip("\n") + "\n")
    os._exit(code)


def _write(handle: int, text: str) -> None:
    left = text.encode("utf-8", "backslashreplace")
    try:
        while left:
            left = left[os.write(handle, left) :]
    except OSError:  # nobody reads: the exit code is left
        return


if __name__ == "__main__":
    main()
