"""What stands for parts of the standard library where somebody waits: it does the same, and loads less."""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indelible
from indelible import light
from indelible.light import MUCH, NamedTuple, compare_digest, hashing, sha256
from indelible.sealed import Sealed


class Ours(NamedTuple):
    """Made without `typing`."""

    name: str
    count_of: int = 0
    parts: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.parts

    @classmethod
    def of(cls, name: str) -> Ours:
        return cls(name, 1)


class Theirs(typing.NamedTuple):
    """Made by `typing`."""

    name: str
    count_of: int = 0
    parts: tuple[str, ...] = ()


def fresh(code: str) -> str:
    """What a new interpreter prints, in which no site hook has loaded anything."""
    env = {**os.environ, "PYTHONPATH": str(Path(indelible.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout


def test_a_named_tuple_is_what_typing_makes_of_the_same_class() -> None:
    ours, theirs = Ours("a", parts=("b",)), Theirs("a", parts=("b",))
    assert tuple(ours) == tuple(theirs) == ("a", 0, ("b",))
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert ours._asdict() == theirs._asdict()
    assert repr(ours).replace("Ours", "Theirs") == repr(theirs)
    assert ours._replace(count_of=2).count_of == 2
    assert not hasattr(ours, "__dict__")


def test_what_else_stands_in_the_class_comes_along() -> None:
    assert Ours.__doc__ == "Made without `typing`."
    assert Ours.__module__ == __name__
    assert Ours.of("a") == Ours("a", 1)
    assert Ours("a").is_empty


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Sealed(b"s", b"b", b"c"))) == Sealed(b"s", b"b", b"c")  # noqa: S301 - our own


def test_a_field_without_a_default_behind_one_that_has_one_is_refused() -> None:
    with pytest.raises(TypeError, match="Odd"):
        exec("class Odd(NamedTuple):\n    first: int = 0\n    second: int", {"NamedTuple": NamedTuple})  # noqa: S102 - mypy would see it


@given(st.binary(max_size=5_000), st.binary(max_size=300))
def test_a_digest_is_the_same_by_either_code(data: bytes, more: bytes) -> None:
    own = light._builtin()
    assert own(data).digest() == sha256(data).digest() == hashlib.sha256(data).digest()
    begun = own(data)
    begun.update(more)
    assert begun.hexdigest() == hashlib.sha256(data + more).hexdigest()


@pytest.mark.parametrize("size", [0, MUCH - 1, MUCH, MUCH + 1])
def test_a_digest_is_the_same_on_either_side_of_much(size: int) -> None:
    data = b"\xa5" * size
    assert (
        fresh(f"from indelible.light import sha256; print(sha256(b'\\xa5' * {size}).hexdigest())").strip()
        == hashlib.sha256(data).hexdigest()
    )
    assert hashing(size)(data).digest() == hashlib.sha256(data).digest()


def test_little_data_loads_no_openssl_and_much_does() -> None:
    code = "import sys; from indelible.light import sha256; sha256(b'a' * {}); print('_hashlib' in sys.modules)"
    assert fresh(code.format(MUCH)).strip() == "False"
    assert fresh(code.format(MUCH + 1)).strip() == "True"


def test_a_process_that_has_openssl_uses_it() -> None:
    code = "import hashlib; from indelible import light; print(light.hashing(1) is hashlib.sha256)"
    assert fresh(code).strip() == "True"


def test_digests_are_compared_as_by_hmac() -> None:
    for other in (b"a" * 32, b"a" * 31 + b"b", b"a"):
        assert compare_digest(b"a" * 32, other) == hmac.compare_digest(b"a" * 32, other)
