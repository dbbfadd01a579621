"""A model of sentence-transformers (Reimers and Gurevych, EMNLP 2019), by setting: `sentence-transformers:MODEL`.

MODEL is a folder, or a name that its library finds among what it has on this machine: nothing is fetched, no code that comes with a
model is run, and weights are read from `safetensors` only, since the older form can run code when it is read. The model is known
by the SHA-256 over its weights.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from indelible.errors import EmbedderFailed
from indelible.recall.embed import Maker
from indelible.recall.vectors import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indelible.recall.embed import Vectors

READ = 20_000
"""Characters of a text that are handed over; the model cuts at its own number of tokens."""
_BATCH = 32


class Sentences:
    """The embedder; the model is loaded at its first use."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._who = f"The embedder 'sentence-transformers:{model}'"
        self._model: Any = None
        self._maker: Maker | None = None

    @property
    def maker(self) -> Maker:
        if self._maker is None:
            model = self._loaded()
            # Its name before 6.0, and since.
            sized = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
            digest = _digest(model.state_dict())
            self._maker = Maker(f"sentence-transformers:{self._name}@{digest[:12]}", int(sized()), digest)
        return self._maker

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        size, model = self.maker.size, self._loaded()
        encode = getattr(model, "encode_query" if query else "encode_document", model.encode)
        whole = [text[:READ].encode("utf-8", "replace").decode() for text in texts]
        if not whole:
            return np.zeros((0, size), np.float32)
        rows = encode(whole, batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return checked(rows, len(whole), size, self._who)

    def close(self) -> None:
        self._model = None

    def _loaded(self) -> Any:  # noqa: ANN401 - a type of a package that need not be there
        if self._model is None:
            self._model = self._load()
        return self._model

    def _load(self) -> Any:  # noqa: ANN401 - likewise
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as exc:
            raise EmbedderFailed(
                f"{self._who} needs a package that is not installed", remedy="pip install sentence-transformers"
            ) from exc
        try:
            return SentenceTransformer(
                self._name, local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
            )
        except (OSError, ValueError) as exc:
            raise EmbedderFailed(
                f"{self._who} cannot be loaded from this machine, and nothing is fetched",
                remedy=f"Name a folder, or fetch it yourself: hf download {self._name}",
            ) from exc


def _digest(weights: dict[str, Any]) -> str:
    """SHA-256 over names, shapes and numbers, in the order of the names."""
    whole = sha256()
    for name in sorted(weights):
        numbers = weights[name].detach().cpu().contiguous().float().numpy()
        whole.update(f"{name} {numbers.shape}\n".encode())
        whole.update(memoryview(numbers).cast("B") if numbers.size else b"")
    return whole.hexdigest()
