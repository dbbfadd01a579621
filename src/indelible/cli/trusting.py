"""pin, key, restore-store: what a reader believes, and whom."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.inputs import read_input
from indelible.cli.output import OK, WARN, Output, counted, visible
from indelible.errors import AccessDenied, ConflictError, NotFoundError, UsageError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.keys import Keystore
    from indelible.seal.note import Signer
    from indelible.settings import Settings

ROLES = ("agent", "owner", "reviewer", "approver", "server")


@click.group(cls=common.Group)
def pin() -> None:
    """The last head that this reader accepted: a rollback behind it is refused."""


@pin.command(name="show")
@click.pass_obj
def pin_show(session: Session) -> None:
    """Print the pin: a signed note that another reader can be given."""
    from indelible.memory.governing import present_pin

    with common.target(session) as memory:
        found = present_pin(memory)
    if found is None or not found.size:
        raise NotFoundError(
            f"This reader has no pin of {visible(memory.agent)!r} yet", remedy="Verify or save something first"
        )
    if not session.output.json:
        session.output.give(found.note.decode("utf-8").rstrip("\n"))
    session.output.document(
        {
            "ok": True,
            "exit_code": 0,
            "slug": "pin",
            "size": found.size,
            "origin": found.origin,
            "note": found.note.decode("utf-8"),
        }
    )


@pin.command(name="set")
@click.argument("file", required=False)
@click.option("--accept", is_flag=True, help="No file: follow what is there from nothing, and accept it.")
@click.pass_obj
def pin_set(session: Session, file: str | None, accept: bool) -> None:  # noqa: FBT001 - click's call
    """Accept the checkpoint in FILE (or '-'), which the store must continue; or, with --accept, what is there."""
    from indelible.memory.governing import set_pin
    from indelible.trust import read_pin

    if (file is None) == (not accept):
        raise UsageError("Say what to accept", remedy="Name a FILE that 'indelible checkpoint' wrote, or say --accept")
    given = None
    if file is not None:
        text = read_input(file).decode("utf-8", "replace")
        given = read_pin(text if "\n" in text else text + "\n")
    with common.target(session) as memory:
        head = set_pin(memory, given)
    how = (
        "is accepted as it is (what happened to it before today is not known)"
        if given is None
        else "continues the given pin"
    )
    session.output.line(f"{OK} pinned at {counted(head.size, 'entry', 'entries')}; the log {how}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "pinned", "size": head.size, "root": head.root.hex()})


@click.group(cls=common.Group)
def key() -> None:
    """Keys: who may sign an agent's memory."""


def _key_name(settings: Settings, role: str, name: str | None) -> str:
    from indelible.entry import origin_of, quote

    if role == "agent":
        return origin_of(settings.team, name or settings.agent)
    return f"indelible-{role}/{quote(name or user())}"


def user() -> str:
    """The name of whoever is logged in."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"


def passphrase_of(settings: Settings, *, confirm: bool = False, name: str = "") -> str:
    """From INDELIBLE_PASSPHRASE_FILE, or typed on a terminal; never from an argument.

    Args:
        name: of the key, for the question.
    """
    from indelible.settings import passphrase

    if settings.passphrase_file is not None:
        found = passphrase(settings)
        if found.warning:
            Output().aside(f"{WARN} {found.warning}")
        return found.text
    if sys.stdin is None or not sys.stdin.isatty():
        raise AccessDenied(
            "A passphrase is needed and there is no terminal to type it on",
            remedy="Put it into a file (0600) and name that in INDELIBLE_PASSPHRASE_FILE",
        )
    question = f"Passphrase of {visible(name)}" if name else "Passphrase"
    return click.prompt(question, hide_input=True, confirmation_prompt=confirm, err=True)


@key.command(name="create")
@click.argument("name", required=False)
@click.option("--role", type=click.Choice(ROLES), default="agent", show_default=True)
@click.option("--unprotected", is_flag=True, help="A reviewer's key under no passphrase: every verdict says so.")
@click.pass_obj
def key_create(session: Session, name: str | None, role: str, unprotected: bool) -> None:  # noqa: FBT001 - click's call
    """Make a key for an agent or a person. Those of owner, reviewer and approver are kept under a passphrase."""
    from indelible import wiring
    from indelible.keys import PROTECTED_ROLES

    settings = common.settings_of(session)
    if unprotected and role != "reviewer":
        raise UsageError(
            "--unprotected is for a reviewer's key", remedy="An agent's has no passphrase; an owner's always has"
        )
    ask = (lambda of: passphrase_of(settings, confirm=True, name=of)) if role in PROTECTED_ROLES else None
    made = _key_name(settings, role, name)
    try:
        signer = wiring.keystore(settings).create(made, role, ask, unprotected=unprotected)
    except ConflictError as error:
        if role != "agent":  # only an agent's is rotated
            error.remedy = (
                f"Show it with 'indelible key show {quote(name or user())} --role {role}', or choose another NAME"
            )
        raise
    if unprotected:
        session.output.aside(
            f"{WARN} anything that runs as you can review with this key, an agent as well: each of its approvals says so"
        )
    if role == "agent" and name in ROLES:
        session.output.aside(
            f"{WARN} this is the key of an agent called {name!r}; for the {name}'s own key say --role {name}"
        )
    _show(session, signer.vkey, f"{OK} made the {role} key {signer.name}")


@key.command(name="show")
@click.argument("name", required=False)
@click.option("--role", type=click.Choice(ROLES), default="agent", show_default=True)
@click.pass_obj
def key_show(session: Session, name: str | None, role: str) -> None:
    """Print the verifier key (vkey) that others name to trust it."""
    from indelible import wiring

    settings = common.settings_of(session)
    keys = wiring.keystore(settings)
    found = keys.verifier(_key_name(settings, role, name))
    held = [one for one in keys.names() if one.startswith(f"indelible-{role}/")]
    if found is None and name is None and len(held) == 1:
        found = keys.verifier(held[0])
    if found is None:
        raise NotFoundError(
            f"There is no {role} key of that name here",
            remedy=f"'indelible key create --role {role}' makes one; 'indelible key list' shows those that are here",
        )
    _show(session, found.vkey, "")


def _show(session: Session, vkey: str, said: str) -> None:
    if said:
        session.output.aside(said)
    session.output.give(vkey)
    session.output.document({"ok": True, "exit_code": 0, "slug": "key", "vkey": vkey})


@key.command(name="list")
@click.pass_obj
def key_list(session: Session) -> None:
    """List the keys that are held here, and those of others that are trusted."""
    from indelible import wiring

    keys = wiring.keystore(common.settings_of(session))
    held = keys.names()
    names = sorted({*held, *keys.trusted_names()})
    rows = [
        (one.vkey, _kept(keys, name) if name in held else "trusted") for name in names if (one := keys.verifier(name))
    ]
    for vkey, how in rows:
        session.output.line(f"{visible(vkey)}  ({how})")
    session.output.line(counted(len(rows), "key", "keys"))
    session.output.document(
        {"ok": True, "exit_code": 0, "slug": "keys", "keys": [{"vkey": vkey, "kept": how} for vkey, how in rows]}
    )


def _kept(keys: Keystore, name: str) -> str:
    """How the private half of a key is kept."""
    try:
        return "held, under a passphrase" if keys.is_protected(name) else "held"
    except NotFoundError:
        return "without its private half"


@key.command(name="trust")
@click.argument("vkey")
@click.option("--replace", is_flag=True, help="Accept another key than the one trusted before.")
@click.pass_obj
def key_trust(session: Session, vkey: str, replace: bool) -> None:  # noqa: FBT001 - click's call
    """Trust another's verifier key, under the name that it carries."""
    from indelible import wiring
    from indelible.seal.note import Verifier

    named = Verifier(vkey)
    wiring.keystore(common.settings_of(session)).trust(named.name, vkey, replace=replace)
    _show(session, vkey, f"{OK} trusted {visible(named.name)}")


@key.command(name="totp")
@click.argument("name", required=False)
@click.pass_obj
def key_totp(session: Session, name: str | None) -> None:
    """Have an approver's key ask for a one-time code as well: prints the address that an authenticator app takes in."""
    from indelible import wiring
    from indelible.keys import onetime
    from indelible.library import role_key

    settings = common.settings_of(session)
    keys = wiring.keystore(settings)
    chosen = role_key(keys, wiring.APPROVER, name)
    typed = passphrase_of(settings, name=chosen)
    keys.signer(chosen, lambda _name: typed)  # the same one, or a person who typed it wrong could not approve any more
    address = onetime.enrol(keys.folder, chosen, typed)
    session.output.aside(f"{OK} from now on {visible(chosen)} asks for a code; this is shown once:")
    session.output.give(address)
    session.output.document({"ok": True, "exit_code": 0, "slug": "totp", "name": chosen, "address": address})


@key.command(name="rotate")
@common.reason_option
@click.pass_obj
def key_rotate(session: Session, reason: str | None) -> None:
    """Hand the agent's log to a new key; the old one signs that."""
    from indelible import wiring
    from indelible.memory.governing import rotate

    settings = common.settings_of(session)
    keys = wiring.keystore(settings)
    with common.target(session) as memory:
        old, new = keys.rotate(memory.origin)
        rotate(memory, old, new, reason=reason or "rotation")
        keys.commit_rotation(memory.origin)
    _show(session, new.vkey, f"{OK} rotated; others follow by themselves, or trust the new key")


@key.command(name="revoke")
@click.option(
    "--from-seq",
    type=click.IntRange(0),
    required=True,
    metavar="N",
    help="The first entry no longer trusted ('indelible history KEY' shows their numbers).",
)
@click.option(
    "--key",
    "stolen",
    metavar="ID",
    help="An earlier key, or a reviewer's, by its id (eight hex digits). [the present key, which is then replaced]",
)
@common.reason_option
@click.pass_obj
def key_revoke(session: Session, from_seq: int, stolen: str | None, reason: str | None) -> None:
    """Trust a key of the agent no longer from entry N on; the present one is replaced by a new one. The owner signs."""
    from indelible import wiring
    from indelible.memory.governing import revoke, revoke_former

    settings = common.settings_of(session)
    keys = wiring.keystore(settings)
    owner = owner_signer(settings, keys)
    why = reason or "revocation"
    with common.target(session) as memory:
        if stolen is not None and stolen != f"{memory.signer.key_id:08x}":
            gone = revoke_former(memory, owner, stolen, from_seq=from_seq, reason=why)
            vkey = memory.signer.vkey
        else:
            old, new = keys.rotate(memory.origin)
            gone = revoke(memory, owner, f"{old.key_id:08x}", new, from_seq=from_seq, reason=why)
            vkey = new.vkey
            keys.commit_rotation(memory.origin)
    session.output.aside(
        f"{WARN} what that key signed from entry {from_seq} on is refused from now; restore what it overwrote with 'indelible restore KEY --version N'"
    )
    _show(session, vkey, f"{OK} revoked {' and '.join(gone)} from entry {from_seq} on")


def owner_signer(settings: Settings, keys: Keystore) -> Signer:
    """The owner's key, made at the first need."""
    name = _key_name(settings, "owner", None)
    if keys.verifier(name) is None:
        made = keys.create(name, "owner", lambda of: passphrase_of(settings, confirm=True, name=of))
        Output().aside(f"{WARN} the owner's key was made just now: {made.vkey}; who knows its passphrase is the owner")
        return made
    return keys.signer(name, lambda of: passphrase_of(settings, name=of))


@key.command(name="backup")
@click.argument("names", nargs=-1)
@click.option("-o", "--output", "file", metavar="FILE", help="[standard output]")
@click.pass_obj
def key_backup(session: Session, names: tuple[str, ...], file: str | None) -> None:
    """Write keys (all of them by default) into an encrypted file that can be printed and typed in again."""
    from indelible import wiring
    from indelible.cli.outputs import write_output

    settings = common.settings_of(session)
    file = None if file == "-" else file
    keys = wiring.keystore(settings)
    chosen = names or keys.names()
    text = keys.backup(chosen, passphrase_of(settings, confirm=True))
    if file is None:
        session.output.give(text.rstrip("\n"))
    else:
        write_output(settings, file, text.encode("utf-8"))
        session.output.line(
            f"{OK} {counted(len(chosen), 'key is', 'keys are')} in {file}: keep it and the passphrase apart"
        )
    session.output.document(
        {"ok": True, "exit_code": 0, "slug": "backup", "names": list(chosen), "backup": text if file is None else None}
    )


@key.command(name="recover")
@click.argument("file")
@click.pass_obj
def key_recover(session: Session, file: str) -> None:
    """Bring keys back from a backup; one that is here already is never overwritten."""
    from indelible import wiring

    settings = common.settings_of(session)
    text = read_input(file).decode("utf-8", "replace")
    names = wiring.keystore(settings).recover(text, passphrase_of(settings))
    session.output.line(f"{OK} recovered {', '.join(map(visible, names)) or 'nothing new'}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "recovered", "names": list(names)})


@click.command(name="restore-store")
@click.option("--reason", required=True, metavar="TEXT", help="Why an older copy was put back; it stands in the log.")
@click.pass_obj
def restore_store(session: Session, reason: str) -> None:
    """Accept an older copy of the store that you put back yourself. The owner signs what is given up."""
    from indelible import wiring
    from indelible.memory.governing import restore_store as restore

    settings = common.settings_of(session)
    owner = owner_signer(settings, wiring.keystore(settings))
    with common.target(session) as memory:
        entry = restore(memory, owner, reason=reason)
    session.output.line(
        f"{OK} accepted: the log goes on at entry {entry.seq}; of the newer copy, which had {entry.index}, the rest is given up"
    )
    session.output.aside(f"Other readers need the owner's key: indelible key trust {owner.vkey}")
    session.output.aside(
        "A pin that was given before (INDELIBLE_PIN, a committed one) is of the newer copy: hand out what 'indelible checkpoint' prints now"
    )
    session.output.document({
        "ok": True, "exit_code": 0, "slug": "store-restored", "seq": entry.seq, "abandoned_size": entry.index, "owner": owner.vkey,
    })  # fmt: skip
