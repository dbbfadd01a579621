"""The shapes that detect-secrets knows and `shapes` does not. Imported for a line that is suspect already, and only then.

Its plugins are asked through their public `analyze_string`. Those that go by a keyword or by entropy alone stay out: they take
digests and commit ids for secrets. Some of its expressions are quadratic, so each sees at most `_WINDOW` characters at a time.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from indelible.screening.found import Span
from indelible.screening.values import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PLUGINS = {
    "artifactory-key": ("artifactory", "ArtifactoryDetector", ("artifactory", "jfrog")),
    "azure-key": ("azure_storage_key", "AzureStorageKeyDetector", ("accountkey",)),
    "cloudant-key": ("cloudant", "CloudantDetector", ("cloudant",)),
    "discord-token": ("discord", "DiscordBotTokenDetector", ("discord", "bot", "token")),
    "ibm-key": ("ibm_cloud_iam", "IbmCloudIamDetector", ("ibm", "bluemix", "iam")),
    "ibm-cos-key": ("ibm_cos_hmac", "IbmCosHmacDetector", ("cos", "hmac", "secret_access")),
    "mailchimp-key": ("mailchimp", "MailchimpDetector", ("-us",)),
    "softlayer-key": ("softlayer", "SoftlayerDetector", ("softlayer", "sl_", "sl-")),
}
"""Kind to module, class, and the words (in lower case) without one of which the line is not its affair."""

_WINDOW, _OVERLAP = 1024, 256
_SHORTEST = 16
_RUN = re.compile(rf"[A-Za-z0-9_+/=-]{{{_SHORTEST}}}")


def by_library(line: str) -> Iterator[Span]:
    """What detect-secrets finds in a line."""
    if not _RUN.search(line):
        return
    lowered = line.lower()
    for kind, (module, name, words) in _PLUGINS.items():
        if any(word in lowered for word in words):
            analyse = _detector(module, name)
            for start in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
                yield from _spans(line, start, analyse, kind)


def _spans(line: str, start: int, analyse: Callable[[str], Iterator[str]], kind: str) -> Iterator[Span]:
    window = line[start : start + _WINDOW]
    for secret in set(analyse(window)):
        at = window.find(secret) if len(secret) >= _SHORTEST and not is_placeholder(secret) else -1
        while at >= 0:
            yield Span(start + at, start + at + len(secret), kind)
            at = window.find(secret, at + len(secret))


@cache
def _detector(module: str, name: str) -> Callable[[str], Iterator[str]]:
    analyse: Callable[[str], Iterator[str]] = getattr(
        import_module(f"detect_secrets.plugins.{module}"), name
    )().analyze_string
    return analyse
