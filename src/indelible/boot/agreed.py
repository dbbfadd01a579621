"""The workflow file against the one that the owner sealed, at every boot of a place that has one.

Bytes are compared, and nothing is parsed: whose word they are, and what they say, is for the workflow's own verbs.
"""

from __future__ import annotations

from indelible.errors import UsageError
from indelible.light import TYPE_CHECKING
from indelible.memory.bound import WORKFLOW
from indelible.settings.repository import bytes_beside
from indelible.state.directory import Finding

if TYPE_CHECKING:
    from indelible.boot.source import Source
    from indelible.settings import Settings

NAME = "workflow.toml"
SLUG = "workflow-altered"
MOST = 256_000
REMEDY = "If the owner meant it: 'indelible flow seal --reason TEXT'; else 'indelible flow restore' puts the sealed text back"


def check_workflow(settings: Settings, source: Source) -> tuple[Finding, ...]:
    """What is wrong with the file of a workflow that was sealed.

    Raises:
        IntegrityError: what is sealed is not what it was. StoreError: a link stands in the file's place.
    """
    sealed = source.verified(WORKFLOW)
    if sealed is None or sealed.latest.state != "active":
        return (Finding(SLUG, NAME, f"{NAME}: what the owner sealed was put away", REMEDY),)
    try:
        path, there = bytes_beside(settings.repository_top, settings.checkout, NAME, MOST)
    except UsageError as error:
        return (Finding(SLUG, NAME, f"{NAME}: {error.message}", REMEDY),)
    if there == sealed.content:
        return ()
    what = "is gone" if there is None else "is not the workflow that the owner sealed"
    return (Finding(SLUG, NAME, f"{path} {what} (sha256:{sealed.sha256})", REMEDY),)
