"""Random repositories, by seed: one of a few bases, and on it any mixture of what people and tools leave behind.

Few processes make one: a base is made once and copied, and a case's own staging is one or two calls of git.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.workflow.change.trees import Tree, new_tree

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

NAMES: tuple[bytes, ...] = (
    b"a.txt", b"b.txt", b"c.py", b"run.sh", b"p.bin", b"d/e.txt", b"d/f/g.py", b"d/f/h.txt", b"src/m.c", b"src/n.c", b"z",
    "메모.txt".encode(), b"a b.txt", b"-n", b'q"uote.txt', b"tab\there.txt", b"new\nline.txt", b":(top)z", b"x b/y.txt",
    b"[a]*?.txt", b"back\\slash", b"latin-\xe9.txt", b"trailing ", b"d-", b"d0", b"d/f.x", "é.txt".encode(), b"#c", b"!x", b"~", b"HEAD",
)  # fmt: skip
IGNORED = (b"out/x.o", b"y.log", b"d/z.log", b"out/deep/w")
ATTRIBUTES = (
    b"* text=auto\n", b"*.txt text\n", b"*.txt eol=crlf\n", b"*.txt eol=lf\n*.bin binary\n", b"*.py -diff\n", b"*.txt diff=hide\n",
    b"*.c ident\n", b"*.txt -text\n", b"*.py filter=up\n",
)  # fmt: skip
LINES = ("input", "true", "false")


@dataclass
class World:
    """A case: the tree, and what the oracle has to know of it."""

    tree: Tree
    assumed: list[bytes] = field(default_factory=list)
    skipped: list[bytes] = field(default_factory=list)
    nested: bool = False


def make_bases(root: Path, random: Random, count: int) -> list[Path]:
    """Repositories with a commit or none, one in eight of SHA-256."""
    return [_make_base(root / f"base{number}", random, number) for number in range(count)]


def _make_base(top: Path, random: Random, number: int) -> Path:
    tree = new_tree(top, "--template=", f"--object-format={'sha256' if number % 8 == 7 else 'sha1'}")
    _configure(tree, random)
    (top / ".gitignore").write_bytes(b"out/\n*.log\n")
    if random.random() < 0.6:
        (top / ".gitattributes").write_bytes(b"".join(random.sample(ATTRIBUTES, 2)))
    for name in random.sample(NAMES, random.randint(1, len(NAMES) - 4)):
        _put(tree, name, _content(random))
    if random.random() < 0.5:
        os.symlink("a.txt", top / "l")
    if number % 10 != 9:
        tree.commit("base")
        tree.git("repack", "-adq")  # fewer files to copy for each case
    if number % 10 == 5:
        tree.git("checkout", "-q", "--detach")
    return top


def _configure(tree: Tree, random: Random) -> None:
    lines = random.choice(LINES)
    text = f"[core]\n\tautocrlf = {lines}\n\tfileMode = {'false' if random.random() < 0.15 else 'true'}\n"
    text += '[filter "up"]\n\tclean = tr a-z A-Z\n' if random.random() < 0.3 else ""
    text += "[index]\n\tversion = 4\n" if random.random() < 0.2 else ""
    with open(tree.top / ".git" / "config", "a", encoding="ascii") as file:
        file.write(text)


def make_world(base: Path, top: Path, random: Random) -> World:
    """A copy of a base, changed."""
    shutil.copytree(base, top, symlinks=True)
    world = World(Tree(top))
    for _ in range(random.choice((0, 1, 3, 6))):
        _alter(world, random)
    if random.random() < 0.6:
        _stage(world, random)
        for _ in range(random.randint(0, 3)):
            _alter(world, random)
    if random.random() < 0.3:
        for name in random.sample(IGNORED, 2):
            _put(world.tree, name, b"left over\n")
    if random.random() < 0.15:
        _mark(world, random)
    if random.random() < 0.06:
        _nest(world, base, random)
    return world


def _content(random: Random) -> bytes:
    kind = random.randrange(7)
    words = [random.choice(("one", "two", "셋", "four $Id$")) for _ in range(random.randint(1, 40))]
    text = "\n".join(words).encode()
    plain = (text + b"\n", text, text.replace(b"\n", b"\r\n") + b"\r\n", b"", b"\x00" + random.randbytes(60))
    return [*plain, random.randbytes(200), text + b"\r\nmixed\n"][kind]


def _path(tree: Tree, name: bytes) -> bytes:
    return os.path.join(os.fsencode(tree.top), name)


def _put(tree: Tree, name: bytes, data: bytes) -> None:
    """Write a file, whatever stands in its way."""
    path = _path(tree, name)
    parts = name.split(b"/")
    for end in range(1, len(parts)):
        above = _path(tree, b"/".join(parts[:end]))
        if os.path.lexists(above) and (os.path.islink(above) or not os.path.isdir(above)):
            os.unlink(above)
    _clear(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def _clear(path: bytes) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def files_of(tree: Tree) -> list[bytes]:
    """Regular files outside of .git, by name."""
    top, found = os.fsencode(tree.top), []
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != b".git"]
        paths = [os.path.join(folder, name) for name in files]
        found += [os.path.relpath(path, top) for path in paths if os.path.isfile(path) and not os.path.islink(path)]
    return sorted(found)


def _alter(world: World, random: Random) -> None:
    tree, files = world.tree, [name for name in files_of(world.tree) if not name.startswith(b".git")]
    name = random.choice(files) if files else b"a.txt"
    kind = random.randrange(10)
    if kind == 0 and files:
        os.unlink(_path(tree, name))
    elif kind == 1 and files:
        os.chmod(_path(tree, name), random.choice((0o755, 0o644)))
    elif kind == 2:
        _clear(_path(tree, b"l2"))
        os.symlink(random.choice((b"a.txt", b"/etc/hostname", b"nowhere", b"d")), _path(tree, b"l2"))
    elif kind == 3 and files:
        os.unlink(_path(tree, name))
        os.symlink(b"elsewhere", _path(tree, name))
    elif kind == 4 and files:
        with open(_path(tree, name), "rb") as file:
            data = file.read()
        os.unlink(_path(tree, name))
        _put(tree, random.choice(NAMES) + b".moved", data)
    elif kind == 5 and files:
        _put(tree, name + b"/below", _content(random))
    elif kind in (6, 7):
        _put(tree, random.choice(NAMES), _content(random))
    else:
        _put(tree, name, _content(random))


def _stage(world: World, random: Random) -> None:
    """Some of it: everything, a few paths, only names, or an entry taken out of the index."""
    tree, kind = world.tree, random.randrange(4)
    files = [name for name in files_of(tree) if not name.startswith(b".git")]
    some = random.sample(files, min(len(files), random.randint(1, 4)))
    if kind == 0:
        tree.run("add", "-A")
    elif some and kind == 1:
        tree.run("--literal-pathspecs", "add", "-f", "--", *some)
    elif some and kind == 2:
        tree.run("--literal-pathspecs", "add", "-N", "--", *some)
    elif some:
        tree.run("--literal-pathspecs", "rm", "-q", "--cached", "--ignore-unmatch", "--", *some)


def _mark(world: World, random: Random) -> None:
    """Marks that hide: the oracle takes them away where the file is there."""
    tree = world.tree
    known = [name for name in os.fsencode(tree.git("ls-files", "-z")).split(b"\0") if name]
    for kept, option in ((world.assumed, "--assume-unchanged"), (world.skipped, "--skip-worktree")):
        some = random.sample(known, min(len(known), 2))
        kept.extend(some)
        tree.git("update-index", option, "-z", "--stdin", stdin=b"".join(name + b"\0" for name in some))


def _nest(world: World, base: Path, random: Random) -> None:
    """Another repository within, which has commits unless its base has none; now and then in the place of tracked files."""
    inner = world.tree.top / random.choice(("vendored", "vendored", "d", "a.txt"))
    _clear(os.fsencode(inner))
    shutil.copytree(base, inner, symlinks=True)
    world.nested = True
