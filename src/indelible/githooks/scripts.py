"""The lines that stand in a hook of git's: a head of ours under the first line, and the former hook's own text below it.

    #!/usr/bin/env bash          the former hook's first line, or ours where there was none
    # indelible: begin (…)
    …
    # indelible: end
    the rest of the former hook, to the byte

So the former hook keeps its name and its folder, by which husky and others find what is theirs, and whoever replaces the file
as his own finds nothing that he has to keep. A former hook that is no shell script, or is one that we may not write into, is
put into the folder `indelible-former` beside it and called from there. Of a hook before a commit the former goes first, since
it may format files; of the others we do, and the former gets the same input.

`reference-transaction` runs at every change of a reference: the shell decides by itself, with two questions to git, whether a
commit is new. Nothing of ours is started where none is. What the workflow says does not stand in a hook, which would outlive it:
whether a commit on another branch is new the hook reads from a file that goes with the workflow (`workflow.guarded`).
"""

from __future__ import annotations

import os
import re

HOOKS = ("pre-commit", "commit-msg", "reference-transaction", "pre-push")
"""Those of a repository in which people work."""
RECEIVE = "pre-receive"
"""That of a repository which only receives."""
EVENTS = (*HOOKS, RECEIVE)
FORMER = "indelible-former"
"""The folder beside the hooks into which a former one is put that we cannot write into."""
BEGIN, END = "# indelible: begin", "# indelible: end"
_SHELL = re.compile(
    rb"#![ \t]*(?:/usr)?(?:/local)?/bin/(?:env[ \t]+)?(?:sh|bash|dash|ash|ksh)(?:[ \t]+-[A-Za-z]+)*[ \t]*\n"
)
_BLOCK = re.compile(rb"^# indelible: begin[^\n]*\n.*?^# indelible: end[^\n]*\n", re.DOTALL | re.MULTILINE)
_OURS = b"#!/bin/sh\n"

_HEAD = """\
{begin} (only approved changes are committed; 'indelible hooks uninstall --git' takes these lines out)
indelible={program}
indelible_gone() {{
  echo "indelible: {event} refused, since $indelible is not there any more. Install it again, or take this hook out:" >&2
  echo "delete the lines from '{begin}' to '{end}' in $0" >&2
  exit 2
}}
"""
_AFTER = """\
if [ "${{1-}}" = "{inside}" ]; then
  shift
else
  "$0" "{inside}" "$@" || exit $?
  [ -x "$indelible" ] || indelible_gone
  exec "$indelible" flow hook {event} "$@"
fi
"""
_BEFORE = """\
indelible_in=$(cat)
[ -x "$indelible" ] || indelible_gone
printf '%s\\n' "$indelible_in" | "$indelible" flow hook {event} "$@" || exit $?
"""
_TRANSACTION = """\
indelible_in=$(cat)
indelible_new= indelible_asks=
while read -r indelible_old indelible_oid indelible_ref; do
  case $indelible_ref in
    [Rr][Ee][Ff][Ss]/[Hh][Ee][Aa][Dd][Ss]/*|[Hh][Ee][Aa][Dd]|main-worktree/*|worktrees/*) ;;
    '') [ -z "$indelible_old$indelible_oid" ] || indelible_asks=1; continue ;;
    *) continue ;;
  esac
  case $indelible_oid in
    "$indelible_old") ;;
    ref:*) case $indelible_ref in */*/*) indelible_asks=1 ;; esac ;;
    *[!0123456789abcdef]*) indelible_asks=1 ;;
    *[!0]*) indelible_new="$indelible_new $indelible_oid" ;;
  esac
done <<INDELIBLE
$indelible_in
INDELIBLE
indelible_is_new() {{
  [ -z "$indelible_asks" ] || return 0
  indelible_all=$(git rev-parse --git-common-dir)/indelible/all-branches
  indelible_known=
  if [ -e "$indelible_all" ]; then
    if [ ! -e .indelible/workflow.toml ] || [ "$indelible_all" -nt .indelible/workflow.toml ]; then indelible_known=--branches; fi
  fi
  [ -n "$(
    unset GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
    GIT_GRAFT_FILE=/dev/null/none git --no-replace-objects -c core.commitGraph=false rev-list -n 1 $indelible_new --not $indelible_known \\
      --remotes --tags -- 2>&1
  )" ]
}}
case $1:$indelible_new$indelible_asks in
prepared:?*)
  if indelible_is_new; then
    [ -x "$indelible" ] || indelible_gone
    printf '%s\\n' "$indelible_in" | "$indelible" flow hook reference-transaction prepared "$PPID" || exit $?
  fi ;;
committed:?*)
  for indelible_claim in "$(git rev-parse --git-common-dir)"/indelible/claims/*; do
    [ -e "$indelible_claim" ] || break
    printf '%s\\n' "$indelible_in" | "$indelible" flow hook reference-transaction committed "$PPID"
    break
  done ;;
esac
"""
_REPLAY = """\
if [ -n "$indelible_in" ]; then
exec <<INDELIBLE
$indelible_in
INDELIBLE
else
exec </dev/null
fi
"""
_FORMER_AFTER = """\
if [ -x "${{0%/*}}/{folder}/{event}" ]; then "${{0%/*}}/{folder}/{event}" "$@" || exit $?; fi
"""
_INSIDE = "indelible: the hook itself"
"""What a hook calls itself with, to be what it was before. Git gives no hook such a word, and no variable is trusted: anybody sets one."""


def head_of(event: str, program: str) -> bytes:
    """Our lines.

    Args:
        event: one of EVENTS.
        program: the absolute path of `indelible`.
    """
    if event in ("pre-commit", "commit-msg"):
        body = _AFTER
    elif event == "reference-transaction":
        body = _TRANSACTION + _REPLAY
    else:
        body = _BEFORE + _REPLAY
    text = f"{_HEAD}{body}{{end}}\n".format(begin=BEGIN, end=END, event=event, program=quoted(program), inside=_INSIDE)
    return os.fsencode(text)


def is_shell(content: bytes) -> bool:
    """Whether a hook is a script of a shell that understands our lines, with line ends as a shell has them."""
    first, newline, _ = content.partition(b"\n")
    return _SHELL.fullmatch(first + newline) is not None and b"\0" not in content and b"\r\n" not in content


def merged(former: bytes, head: bytes) -> bytes:
    """A shell script with our head under its first line."""
    first, newline, rest = without(former).partition(b"\n")
    return first + newline + head + rest


def alone(head: bytes) -> bytes:
    """A hook that is ours alone."""
    return _OURS + head


def calling(event: str, head: bytes) -> bytes:
    """A hook of ours that calls a former one from its folder."""
    return _OURS + head + _FORMER_AFTER.format(folder=FORMER, event=event).encode()


def without(content: bytes) -> bytes:
    """A hook without our lines."""
    return _BLOCK.sub(b"", content)


def has_ours(content: bytes) -> bool:
    """Whether our lines stand in a hook, whole."""
    return _BLOCK.search(content) is not None


def ours_in(content: bytes) -> bytes:
    """Our lines, as they stand in a hook."""
    found = _BLOCK.search(content)
    return found[0] if found else b""


def program_in(content: bytes) -> str:
    """The program that our lines call; empty where they do not stand there."""
    found = re.search(rb"^indelible='((?:[^']|'\\'')*)'$", content, re.MULTILINE)
    return found[1].decode("utf-8", "surrogateescape").replace("'\\''", "'") if found and has_ours(content) else ""


def is_ours_alone(content: bytes) -> bool:
    """Whether nothing of anybody else's stands in a hook, but perhaps the call of a former one."""
    rest = without(content)
    return has_ours(content) and (
        rest == _OURS or rest.startswith(_OURS + b'if [ -x "${0%/*}/' + FORMER.encode() + b"/")
    )


def quoted(text: str) -> str:
    """A word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
