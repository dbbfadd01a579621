"""What a waking agent is told of commits that nobody approved, and of git's hooks that were changed: where those are installed.

Two small files and those of `.git` are read; git is started where HEAD is not what it was, and likewise where the settings
or the hooks are not.
"""

from __future__ import annotations

import os

from indelible.errors import IndelibleError
from indelible.light import TYPE_CHECKING
from indelible.workflow import moved

if TYPE_CHECKING:
    from indelible.settings import Settings
    from indelible.workflow.graph import Guard
    from indelible.workflow.moved import Installed, Seen

STATUS = "'indelible hooks status' says what"
_TOLD = 3
"""Commits that are told one by one."""
_OURS = b"# indelible: begin"


def warnings_of(settings: Settings, *, is_sealed: bool) -> tuple[str, ...]:
    """What has to be said; nothing where neither git's hooks are installed here nor a workflow is sealed."""
    checkout = settings.checkout
    own, common = moved.common_of(checkout) if checkout is not None else ("", "")
    if checkout is None or not common:
        return ()
    if not os.path.lexists(moved.record_path(settings.state_dir, common)):
        said = _of_head(settings, checkout, own, common) if is_sealed else ""
        return (said,) if said else ()
    installed = moved.read_installed(settings.state_dir, common)
    if installed is None:
        return (f"What is remembered of git's hooks cannot be read; {STATUS}",)
    found = (_of_hooks(settings, checkout, installed), _of_head(settings, checkout, own, common))
    return tuple(filter(None, found))


def _of_hooks(settings: Settings, checkout: str, installed: Installed) -> str:
    stamps = moved.stamps_of(installed.watched)
    if stamps == installed.watched:
        return ""
    try:
        changed = _changed(checkout, installed)
        if not changed:
            moved.keep_installed(settings.state_dir, installed._replace(watched=stamps))
    except IndelibleError as error:
        changed = f"whether git's hooks still stand could not be seen ({error.message})"
    return f"{changed}: commits may go unchecked. {STATUS}; tell your human" if changed else ""


def _changed(checkout: str, installed: Installed) -> str:
    from indelible.gitsource.command import Git
    from indelible.gitsource.hookspath import hooks_path
    from indelible.settings import here

    configured = hooks_path(Git(here()[1], 30.0), checkout)[1]
    if configured != installed.configured:
        return f"core.hooksPath was changed to {configured or 'nothing'} since git's hooks were installed"
    folder = installed.hooks + os.sep
    gone = [path for path in installed.watched if path.startswith(folder) and not _stands(path)]
    return f"git's hook {os.path.basename(gone[0])} is not what was installed" if gone else ""


def _stands(path: str) -> bool:
    for name in (path, f"{path}.legacy"):
        try:
            with open(name, "rb") as file:
                if _OURS in file.read(1 << 20) and os.access(name, os.X_OK):
                    return True
        except OSError:
            continue
    return False


def _of_head(settings: Settings, checkout: str, own: str, common: str) -> str:
    seen = moved.read_seen(settings.state_dir, checkout)
    head, branch = moved.head_of(own, common), moved.branch_of(own)
    if head is None:
        head = _asked(checkout, "rev-parse", "--verify", "--quiet", "HEAD")
        branch = _asked(checkout, "symbolic-ref", "--quiet", "HEAD")
    where = f"{head} {branch}"
    if seen is not None and seen.looked in (head, where):
        return seen.said
    if seen is None or not head:
        moved.keep_seen(settings.state_dir, checkout, moved.Seen(head, head, ""))
        return ""
    try:
        guard = _guard(settings)
        is_guarded = guard.guards(branch)
        said = _unapproved(settings, checkout, seen, head, guard.receipt) if is_guarded else ""
    except IndelibleError as error:
        return (
            f"HEAD moved to {head[:12]}, and whether its commits were approved could not be checked ({error.message})"
        )
    # what is on a branch that is not guarded is seen, and is still new to one that is
    right, looked = (seen.head if said else head, head) if is_guarded else (seen.head, where)
    moved.keep_seen(settings.state_dir, checkout, moved.Seen(right, looked, said))
    return said


def _guard(settings: Settings) -> Guard:
    """What the workflow in force says of commits."""
    from indelible import wiring
    from indelible.stepping.inforce import workflow_in_force

    with wiring.open_memory(settings, door="boot") as memory:
        return workflow_in_force(memory, settings).guard


def _unapproved(settings: Settings, checkout: str, seen: Seen, head: str, target: str) -> str:
    from indelible import wiring
    from indelible.settings import here
    from indelible.workflow.commits import Trust, unapproved_since

    trust = Trust(wiring.approvers(settings), target)
    baseline = moved.baseline_of(settings.state_dir, moved.common_of(checkout)[1])
    found = unapproved_since(checkout, here()[1], seen.head, trust, baseline=baseline)
    if not found:
        return ""
    named = ", ".join(one.commit[:12] for one in found[:_TOLD])
    more = f" and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
    return (
        f"HEAD moved to {head[:12]} by commits that nobody approved: {named}{more}. Tell your human, and do not build on them; "
        "a person who means them says 'indelible hooks install --git' again"
    )


def _asked(checkout: str, *words: str) -> str:
    """What git says of HEAD, where it keeps its references in another form than files."""
    from indelible.gitsource.command import Git
    from indelible.settings import here

    return Git(here()[1], 30.0).line(checkout, *words)
