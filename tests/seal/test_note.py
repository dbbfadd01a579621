"""Signed notes against Go's x/mod/sumdb/note, the examples of C2SP, RFC 8032, and bad notes of every kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indelible
from indelible.errors import BadSignature, Malformed, UsageError
from indelible.seal.note import (
    MAX_NOTE,
    MAX_SIGNATURES,
    Note,
    Signature,
    Signer,
    Verifier,
    from_base64,
    open_note,
    pae,
    parse_note,
    sign_note,
    to_base64,
)

BAD = sorted(Path(__file__).parent.joinpath("bad", "note").iterdir())
VECTORS = Path(__file__).parents[1] / "vectors"
RFC8032 = json.loads(VECTORS.joinpath("rfc8032", "ed25519.json").read_bytes())
GO = json.loads(VECTORS.joinpath("sumdb", "note.json").read_bytes())

LOG = Signer("example.com/log", bytes(range(32)))
WITNESS = Signer("example.com/witness", bytes(range(1, 33)))
TEXT = b"first line\n\nthird line\n"

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="+"), min_size=1, max_size=20)
LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], min_codepoint=0x20)), min_size=1)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
SIGNATURES = st.builds(Signature, NAMES, st.integers(0, 2**32 - 1), st.binary(min_size=1, max_size=80))
NOTES = st.builds(Note, TEXTS, st.lists(SIGNATURES, min_size=1, max_size=5).map(tuple))


def go_note(*lines: str) -> bytes:
    return "\n".join([GO["text"], *lines, ""]).encode()


@pytest.mark.parametrize("case", RFC8032, ids=lambda case: case["name"])
def test_rfc_8032_keys_sign_and_verify_as_published(case: dict[str, str]) -> None:
    message, signature = bytes.fromhex(case["message"]), bytes.fromhex(case["signature"])
    signer = Signer("test", bytes.fromhex(case["seed"]))
    assert signer.public.hex() == case["public"]
    assert signer.sign_raw(message) == signature
    verifier = Verifier(signer.vkey)
    assert verifier.verify_raw(message, signature)
    assert not verifier.verify_raw(message + b"x", signature)


def test_a_note_is_signed_as_go_signs_it() -> None:
    signer = Signer.from_skey(GO["peter"]["skey"])
    assert signer.vkey == GO["peter"]["vkey"]
    assert signer.skey == GO["peter"]["skey"]
    assert sign_note(GO["text"].encode(), signer) == go_note(GO["peter"]["line"])


def test_go_opens_what_two_signed() -> None:
    peter, enoch = (Verifier(GO[name]["vkey"]) for name in ("peter", "enoch"))
    data = go_note(GO["peter"]["line"], GO["enoch"]["line"])
    note, verified = open_note(data, [peter, enoch])
    assert note.text == GO["text"].encode()
    assert [signature.name for signature in verified] == ["PeterNeumann", "EnochRoot"]
    _, verified = open_note(data, [enoch])
    assert [signature.name for signature in verified] == ["EnochRoot"]


@pytest.mark.parametrize("vkey", GO["bad_vkeys"].values(), ids=GO["bad_vkeys"])
def test_a_verifier_key_that_go_refuses_is_refused(vkey: str) -> None:
    with pytest.raises(UsageError):
        Verifier(vkey)


def test_no_part_of_a_verifier_key_is_one() -> None:
    vkey = GO["peter"]["vkey"]
    for low in range(len(vkey)):
        for high in range(low, len(vkey) + 1):
            if (low, high) != (0, len(vkey)):
                with pytest.raises(UsageError):
                    Verifier(vkey[low:high])


def test_a_verifier_key_with_any_character_changed_is_refused() -> None:
    vkey = GO["peter"]["vkey"]
    for place, character in enumerate(vkey):
        with pytest.raises(UsageError):
            Verifier(vkey[:place] + chr(ord(character) + 1) + vkey[place + 1 :])


def test_a_signer_key_with_any_character_changed_is_refused_at_the_latest_when_it_is_used() -> None:
    skey = GO["peter"]["skey"]
    for place, character in enumerate(skey):
        with pytest.raises(UsageError):
            Signer.from_skey(skey[:place] + chr(ord(character) + 1) + skey[place + 1 :]).sign(TEXT)


@pytest.mark.parametrize(
    "vkey",
    ["", "+", "++", "a+b", "a+0+", " a+00000000+AAAA", "a\n+00000000+AAAA", "a+0000000G+AAAA", "\ud800+00000000+AAAA",
     GO["peter"]["vkey"] + "\n", GO["peter"]["vkey"].replace("c74f20a3", "C74F20A3"), GO["peter"]["vkey"] + "+",
     GO["peter"]["vkey"].replace("+c7", "+0xc7"), GO["peter"]["vkey"].replace("+c7", "+-c7")],
    ids=ascii,
)  # fmt: skip
def test_what_is_no_verifier_key_is_refused_in_words(vkey: str) -> None:
    with pytest.raises(UsageError):
        Verifier(vkey)


def test_the_examples_of_c2sp_signed_note() -> None:
    verifier = Verifier(VECTORS.joinpath("c2sp", "signed-note_foo.vkey").read_text().strip())
    data = VECTORS.joinpath("c2sp", "signed-note_foo.txt").read_bytes()
    note, verified = open_note(data, [verifier])
    assert note.text == b"This is an example message.\n"
    assert verified == note.signatures
    poem = VECTORS.joinpath("c2sp", "signed-note_quasimodo.txt").read_bytes()
    assert parse_note(poem).format() == poem
    assert parse_note(poem).text.count(b"\n\n") == 1


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_note_is_refused(path: Path) -> None:
    with pytest.raises(Malformed):
        parse_note(path.read_bytes())


@given(NOTES)
def test_parsing_a_note_is_the_inverse_of_formatting_it(note: Note) -> None:
    assert parse_note(note.format()) == note


@given(st.binary() | NOTES.map(Note.format))
def test_any_bytes_are_a_note_or_malformed(data: bytes) -> None:
    try:
        note = parse_note(data)
    except Malformed:
        return
    assert note.format() == data


@given(NAMES, st.binary(min_size=32, max_size=32), TEXTS)
def test_a_signed_note_opens_and_its_keys_come_back_from_their_text(name: str, seed: bytes, text: bytes) -> None:
    signer = Signer(name, seed)
    verifier = Verifier(signer.vkey)
    assert (verifier.name, verifier.key_id, verifier.public) == (signer.name, signer.key_id, signer.public)
    assert Signer.from_skey(signer.skey).vkey == signer.vkey == verifier.vkey
    note, verified = open_note(sign_note(text, signer), [verifier])
    assert (note.text, verified) == (text, note.signatures)
    verifier.verify(text, verified[0])


def test_any_byte_of_a_note_flipped_is_caught() -> None:
    data, verifiers = sign_note(TEXT, LOG, WITNESS), [Verifier(LOG.vkey), Verifier(WITNESS.vkey)]
    assert len(open_note(data, verifiers)[1]) == 2
    for place in range(len(data)):
        for mask in (1, 0x20, 0x80):
            changed = data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]
            try:
                _, verified = open_note(changed, verifiers)
            except (Malformed, BadSignature):
                continue
            # Only a signer's name was changed, so that the line is an unknown key's: the other key still vouches.
            assert len(verified) == 1
            assert parse_note(changed).text == TEXT


def test_two_blank_lines_are_another_text() -> None:
    data = sign_note(TEXT, LOG).replace("\n\n—".encode(), "\n\n\n—".encode())
    assert parse_note(data).text == TEXT + b"\n"
    with pytest.raises(BadSignature):
        open_note(data, [Verifier(LOG.vkey)])


def test_a_byte_order_mark_is_another_text() -> None:
    with pytest.raises(BadSignature):
        open_note(b"\xef\xbb\xbf" + sign_note(TEXT, LOG), [Verifier(LOG.vkey)])


def test_a_signature_of_a_known_key_that_fails_condemns_the_note() -> None:
    good = parse_note(sign_note(TEXT, LOG, WITNESS))
    forged = good.signatures[1]._replace(blob=bytes(64))
    for signatures in ((good.signatures[0], forged), (forged, good.signatures[0]), (*good.signatures, forged)):
        with pytest.raises(BadSignature, match="witness"):
            open_note(Note(TEXT, signatures).format(), [Verifier(LOG.vkey), Verifier(WITNESS.vkey)])


def test_a_signature_of_an_unknown_key_is_ignored_even_under_a_known_name_or_id() -> None:
    ours = parse_note(sign_note(TEXT, LOG)).signatures[0]
    strangers = (ours._replace(name="example.com/other"), ours._replace(key_id=ours.key_id ^ 1))
    note, verified = open_note(Note(TEXT, (*strangers, ours)).format(), [Verifier(LOG.vkey)])
    assert (len(note.signatures), verified) == (3, (ours,))
    with pytest.raises(BadSignature):
        open_note(Note(TEXT, strangers).format(), [Verifier(LOG.vkey)])


def test_a_note_that_no_trusted_key_signed_is_refused_and_says_who_did() -> None:
    with pytest.raises(BadSignature) as caught:
        open_note(sign_note(TEXT, WITNESS), [Verifier(LOG.vkey)])
    assert caught.value.facts["signed_by"] == "example.com/witness"
    with pytest.raises(BadSignature):
        open_note(sign_note(TEXT, WITNESS), [])


def test_a_key_verifies_no_signature_that_bears_another_name_or_id() -> None:
    verifier, ours = Verifier(LOG.vkey), LOG.signature(TEXT)
    verifier.verify(TEXT, ours)
    for other in (ours._replace(name="example.com/other"), ours._replace(key_id=ours.key_id ^ 1)):
        with pytest.raises(BadSignature):
            verifier.verify(TEXT, other)


def test_a_key_that_signed_twice_counts_once() -> None:
    line = parse_note(sign_note(TEXT, LOG)).signatures[0]
    _, verified = open_note(Note(TEXT, (line, line)).format(), [Verifier(LOG.vkey)])
    assert verified == (line,)


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_a_signature_of_another_length_does_not_verify(length: int) -> None:
    assert not Verifier(LOG.vkey).verify_raw(TEXT, bytes(length))


def test_a_public_key_off_the_curve_verifies_nothing() -> None:
    off_curve = bytes([2]) + bytes(31)
    key_id = sha256(b"name\n\x01" + off_curve).hexdigest()[:8]
    verifier = Verifier(f"name+{key_id}+{to_base64(bytes([1]) + off_curve)}")
    assert not verifier.verify_raw(TEXT, LOG.sign_raw(TEXT))


def test_a_note_at_its_limits_is_read_and_beyond_them_is_not() -> None:
    line = parse_note(sign_note(TEXT, LOG)).signatures[0]
    assert len(parse_note(Note(TEXT, (line,) * MAX_SIGNATURES).format()).signatures) == MAX_SIGNATURES
    with pytest.raises(Malformed, match="64"):
        parse_note(Note(TEXT, (line,) * (MAX_SIGNATURES + 1)).format())
    rest = len(Note(b"\n", (line,)).format())
    longest = Note(b"x" * (MAX_NOTE - rest) + b"\n", (line,)).format()
    assert parse_note(longest).format() == longest
    with pytest.raises(Malformed):
        parse_note(b"x" + longest)


@pytest.mark.parametrize("text", [b"", b"no newline", b"a\r\n", b"tab\t\n", b"\x00\n", b"\xff\n", b"\xed\xa0\x80\n"])
def test_a_text_that_no_parser_gives_back_is_not_signed(text: bytes) -> None:
    with pytest.raises(UsageError):
        sign_note(text, LOG)


def test_a_note_without_a_signer_is_not_made() -> None:
    with pytest.raises(UsageError):
        sign_note(TEXT)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a+b", "a\nb", "a\u00a0b", "a\u3000b", "\x00", "\x7f ", "\ud800"], ids=ascii
)
def test_a_name_that_no_note_can_bear_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        Signer(name, bytes(32))


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(UsageError):
        Signer("name", bytes(size))


def test_a_generated_key_is_a_new_one_and_shows_no_secret() -> None:
    one, two = Signer.generate("name"), Signer.generate("name")
    assert one.vkey != two.vkey
    assert repr(one) == "Signer(name='name')"
    assert repr(Verifier(one.vkey)) == f"Verifier({one.vkey!r})"


def test_a_signer_key_without_its_mark_is_refused() -> None:
    with pytest.raises(UsageError, match="PRIVATE"):
        Signer.from_skey(LOG.vkey)


def test_the_pre_authentication_encoding_is_that_of_dsse() -> None:
    """The example of the DSSE protocol document."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("é", b"") == "DSSEv1 2 é 0 ".encode()


@given(st.text(), st.binary(), st.text(), st.binary())
def test_different_things_are_never_encoded_alike(kind1: str, body1: bytes, kind2: str, body2: bytes) -> None:
    if (kind1, body1) != (kind2, body2):
        assert pae(kind1, body1) != pae(kind2, body2)


@given(st.binary())
def test_base64_is_read_as_it_was_written(raw: bytes) -> None:
    assert from_base64(to_base64(raw)) == raw


@given(st.text(st.sampled_from("ABCxyz019+/=-_ \n\u00e9"), max_size=12))
def test_base64_has_one_spelling(text: str) -> None:
    try:
        raw = from_base64(text)
    except Malformed:
        return
    assert to_base64(raw) == text


def test_keys_that_are_not_used_import_no_cryptography() -> None:
    code = (
        "import sys\n"
        "from indelible.seal import canonical, checkpoint, digest, merkle, note, proof\n"
        f"note.Signer('a', bytes(32)); note.Signer.from_skey({LOG.skey!r}); note.Signer.generate('a')\n"
        f"note.Verifier({LOG.vkey!r}); note.parse_note({sign_note(TEXT, LOG)!r})\n"
        "print('cryptography' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(indelible.__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
