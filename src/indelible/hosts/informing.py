"""Events that may tell the model something: a context that begins, one that may have lost the briefing, a subagent's start.

Nothing here stops anything: what fails is said to the model, to the person and in the log.
"""

from __future__ import annotations

import os

from indelible import boot
from indelible.boot.briefing import BOOTED, NO_STATE, OVER_BUDGET, TAMPERED
from indelible.errors import IndelibleError
from indelible.hosts import ledger as ledgers
from indelible.hosts.guarding import line_of, reminder
from indelible.hosts.holding import EMPTY, forget_readings
from indelible.hosts.hookfiles import git_places, hooked_files
from indelible.hosts.host import AFTER_TOOL, PROMPT, START, Reply
from indelible.hosts.ledger import TOO_LONG, Ledger
from indelible.hosts.places import GIT, HOOKS, KEYS, OWN, PINS, STATE, STORE
from indelible.hosts.transcripts import is_lost, renewals
from indelible.hosts.whereabouts import place_of
from indelible.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from indelible.boot import Briefing
    from indelible.hosts.host import Event
    from indelible.hosts.world import World
    from indelible.settings import Settings

NOT_LOADED = "Indelible: memory was NOT loaded."
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def begin(event: Event, world: World) -> Reply:
    """A context begins, or one lacks the briefing: wake the agent, and note what it was told."""
    briefing, settings = _wake(event, world)
    if settings is None:  # nobody knows what is protected, and a gate must not be told that it is nothing
        found = _found(briefing)
        world.change(event, lambda old: old._replace(slug=briefing.slug, briefed=False, found=found))
        return _reply(briefing, world, "")
    ledger = _ledger(event, world, briefing, settings)
    before = world.ledger(event)
    if before is not None:
        ledger = ledger._replace(returned=before.returned, snapshot=before.snapshot)
    unkept = " ".join(filter(None, (world.keep(event, ledger), _renew(settings, briefing.slug))))
    if event.purpose == START:
        forget_readings(event, world)
    if event.purpose == START and not world.host.renewed_by:
        world.owe_elsewhere(event)
    ledgers.sweep(world.state_dir)
    return _reply(briefing, world, unkept)


def remind(event: Event, world: World) -> Reply:
    """Tell it again where this context lacks it."""
    if event.purpose == PROMPT:
        forget_readings(event, world)
    ledger = world.ledger(event)
    if ledger is None:
        return begin(event, world)
    if ledger.slug == NO_STATE:
        return Reply()
    is_owed = ledger.owed or is_lost(event, world.host, ledger)
    if is_owed or (not ledger.briefed and event.purpose != AFTER_TOOL):
        return begin(event, world)
    if event.purpose == AFTER_TOOL and not world.host.tells_before:
        return Reply(context=reminder(event, ledger, line_of(event, world.home), world.home))
    return Reply()


def _renew(settings: Settings, slug: str) -> str:
    """Derive anew what gates have to know of the workflow and of the scars; answers with a warning."""
    if slug in (NO_STATE, EMPTY, TAMPERED) or settings.checkout is None:
        return ""
    from indelible.settings import now
    from indelible.stepping.guarding import is_current, renew

    try:
        if not is_current(settings, now()):
            renew(settings)
    except IndelibleError as error:
        return f"What the workflow and the scars hold back could not be looked at ({error.slug}: {error})"
    return ""


def brief_child(event: Event, world: World) -> Reply:
    """The laws, for a subagent, whose context has nothing of ours."""
    briefing, _ = _wake(event, world, only_laws=True)
    return _reply(briefing, world, "")


def introduce(event: Event, world: World) -> tuple[Ledger, str]:
    """What a gate knows of a session whose start it did not see; nothing was delivered yet.

    Raises:
        IndelibleError: the settings are broken, so that nobody knows what is protected.
    """
    settings = load(event.cwd or None, world.variables(event))
    briefing = None if settings.remote or world.inner else _woken(settings, world)
    ledger = _ledger(event, world, briefing, settings)._replace(briefed=False)
    return ledger, "" if world.inner else world.keep(event, ledger)


def look_again(event: Event, world: World, ledger: Ledger) -> Ledger:
    """Verify once more, since files have changed or something was found; what was delivered stays so if all is well.

    Raises:
        IndelibleError: the settings are broken.
    """
    briefing = _woken(load(ledger.cwd or None, world.variables(event)), world)
    tampered = briefing.slug == TAMPERED
    seen = ledger._replace(
        slug=briefing.slug, stamps=briefing.stamps, found=_found(briefing), briefed=ledger.briefed and not tampered
    )  # fmt: skip
    world.change(event, lambda old: seen._replace(owed=old.owed, returned=old.returned, snapshot=old.snapshot))
    return seen


def reread(
    event: Event, world: World, ledger: Ledger, *, budget: int | None = None, characters: int | None = None
) -> None:
    """The agent runs `indelible boot` itself: what it is shown stands in its context from now on, if it is a briefing.

    Whether it is, the gate finds out by a boot of its own at this moment.

    Args:
        budget: tokens, where the command says how many; `characters` likewise.
    """
    try:
        found = boot.wake(load(ledger.cwd or None, world.variables(event)), budget=budget, characters=characters)
    except IndelibleError as error:
        found = boot.refused(error)
    count = renewals(event.transcript, world.host.renewed_by)

    def told(old: Ledger) -> Ledger:
        seen = old._replace(slug=found.slug, found=_found(found), stamps=found.stamps, briefed=False)
        if found.slug not in (BOOTED, NO_STATE, EMPTY):
            return seen
        return seen._replace(briefed=True, owed=False, mark=found.mark, renewals=count)

    world.change(event, told)


def _wake(event: Event, world: World, *, only_laws: bool = False) -> tuple[Briefing, Settings | None]:
    try:
        settings = load(event.cwd or None, world.variables(event))
    except IndelibleError as error:
        return boot.refused(error), None
    found = _woken(settings, world, only_laws=only_laws)
    excess = len(found.text.encode()) - world.host.most_bytes
    if world.host.most_bytes and excess > 0:  # letters that take three bytes
        room = world.host.limit * world.host.most_bytes // (world.host.most_bytes + excess)
        found = _woken(settings, world, room, only_laws=only_laws)
    return found, settings


def _woken(settings: Settings, world: World, room: int = 0, *, only_laws: bool = False) -> Briefing:
    """The briefing as the host can pass it on; where only its own bound is in the way, that is said."""
    found = boot.wake(settings, characters=room or world.host.limit, only_laws=only_laws)
    if found.slug != OVER_BUDGET or boot.wake(settings, only_laws=only_laws).slug != BOOTED:
        return found
    text = (
        f"TOO LONG FOR {world.host.title}: the laws fit the briefing's {settings.boot.budget} tokens, and not the {room or world.host.limit} "
        "characters that this host passes on whole. Run 'indelible boot', which has no such bound, and read all that it prints.\n"
    )
    return found._replace(text=text, slug=TOO_LONG)


def _reply(briefing: Briefing, world: World, unkept: str) -> Reply:
    warning = " ".join(filter(None, (*briefing.warnings, unkept)))
    if briefing.slug == BOOTED:
        return Reply(context=briefing.text, warning=warning)
    if briefing.slug == NO_STATE:
        return Reply(warning=unkept)
    text = f"{NOT_LOADED} {briefing.text}"
    if len(text) > world.host.limit:
        text = f"{NOT_LOADED} What there is to say is too long for this host; run 'indelible boot' and read it."
    return Reply(context=text, warning=warning, failure=f"{briefing.slug}: {_found(briefing)}")


def _found(briefing: Briefing) -> str:
    tampered = [
        f"{finding.text}; {finding.remedy}" if finding.slug == "memory-edited" else finding.text
        for finding in briefing.findings
        if finding.is_tampering
    ]
    return "; ".join(tampered) or ("" if briefing.slug in (BOOTED, NO_STATE) else briefing.text.partition("\n")[0])


def _ledger(event: Event, world: World, briefing: Briefing | None, settings: Settings) -> Ledger:
    directory = settings.boot.directory
    ledger = Ledger(
        host=world.host.name,
        cwd=event.cwd,
        slug=briefing.slug if briefing else "",
        level=settings.boot.briefing_first,
        briefed=briefing is not None and briefing.slug == BOOTED,
        remote=settings.remote,
        directory=directory or "",
        mark=briefing.mark if briefing else "",
        renewals=renewals(event.transcript, world.host.renewed_by),
        found=_found(briefing) if briefing else "",
        stamps=briefing.stamps if briefing else (),
        places=_places(settings, world, event.cwd),
        memories=_memories(settings),
        place=place_of(event.cwd),
    )
    return ledger._replace(caseless=_is_caseless(directory or event.cwd))


def _memories(settings: Settings) -> tuple[tuple[str, str], ...]:
    if settings.checkout is None or not (settings.remote or os.path.exists(settings.store)):
        return ()
    return tuple((os.path.join(settings.checkout, key), key) for key in settings.boot.memories)


def _places(settings: Settings, world: World, cwd: str) -> tuple[tuple[str, str], ...]:
    """Every protected place, the innermost first, by its letters and by where links lead."""
    from indelible.state.stamps import stamps_of

    found = [(settings.config_dir, KEYS), (settings.state_dir, PINS), (settings.data_dir, STORE)]
    found += [(os.path.join(top, ".indelible"), OWN) for top in (settings.repository_top, settings.checkout) if top]
    if not settings.remote:
        found += [(settings.store + end, STORE) for end in _SIDE_FILES]
    directory = settings.boot.directory
    if directory:
        found += [
            (directory, STATE),
            *((os.path.join(directory, str(stamp[0])), STATE) for stamp in stamps_of(directory)),
        ]
    found += [(path, HOOKS) for path in hooked_files(place_of(cwd), world.environ)]
    if directory and os.path.isdir(directory):
        found += [(path, GIT) for path in git_places(place_of(cwd))]
    found.append((ledgers.spare_folder(world.environ), PINS))
    both = {(spelt, kind) for path, kind in found for spelt in (path, os.path.realpath(path))}
    return tuple(sorted(both, key=lambda place: (-len(place[0]), place)))


def _is_caseless(path: str) -> bool:
    """Whether the file system there takes capitals for small letters."""
    other = path.swapcase()
    return other != path and os.path.exists(path) and os.path.exists(other)
