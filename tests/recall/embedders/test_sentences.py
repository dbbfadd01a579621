"""sentence-transformers by setting: what is said where it is not there, and a model that is made here where it is."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indelible.errors import EmbedderFailed
from indelible.recall.embed import embedder_of

if TYPE_CHECKING:
    from pathlib import Path

there = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed")


def test_without_the_package_the_command_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbedderFailed, match="not installed") as refused:
        embedder_of("sentence-transformers:all-MiniLM-L6-v2").embed(["a"])
    assert refused.value.remedy == "pip install sentence-transformers"


@there
def test_a_model_that_is_not_on_this_machine_is_not_fetched() -> None:
    with pytest.raises(EmbedderFailed, match="nothing is fetched") as refused:
        embedder_of("sentence-transformers:somebody/no-such-model").embed(["a"])
    assert "hf download" in refused.value.remedy


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A tiny model of the real kind, with random weights and a vocabulary of letters."""
    sentences = pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    base, whole = tmp_path / "base", tmp_path / "model"
    base.mkdir()
    (base / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(97, 123))])
    )
    config = transformers.BertConfig(
        vocab_size=31, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(base)
    transformers.BertTokenizer(str(base / "vocab.txt")).save_pretrained(base)
    sentences.SentenceTransformer(str(base), device="cpu").save(str(whole))
    return str(whole)


@there
def test_a_folder_gives_vectors_and_is_known_by_its_weights(model: str) -> None:
    embedder = embedder_of(f"sentence-transformers:{model}")
    rows = embedder.embed(["a b", "", "\ud800", "x" * 50_000])
    assert rows.shape == (4, 16)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert embedder.embed([]).shape == (0, 16)
    assert embedder.embed(["a b"], query=True).shape == (1, 16)
    maker = embedder.maker
    assert (maker.size, len(maker.digest)) == (16, 64)
    embedder.close()
    assert embedder_of(f"sentence-transformers:{model}").maker == maker
