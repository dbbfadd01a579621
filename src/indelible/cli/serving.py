"""serve, apikey."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indelible.cli import common
from indelible.cli.output import OK, WARN, visible
from indelible.errors import UsageError

if TYPE_CHECKING:
    from indelible.cli.session import Session
    from indelible.server.apikeys import ApiKeys

VERBS = ("read", "write", "erase", "review")
AGENTS = ("read", "write", "erase")


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Another address than loopback lets others in: put TLS before it.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0 takes a free one and says which."
)
@click.option(
    "--max-content",
    type=click.IntRange(1),
    default=4 * 1024 * 1024,
    show_default=True,
    metavar="BYTES",
    help="The largest memory taken.",
)
@click.pass_obj
def serve(session: Session, host: str, port: int, max_content: int) -> None:
    """Serve the Memory API: the plain /memory/save and /memory/load, and /v1 (its OpenAPI document is at /openapi.json)."""
    try:
        from indelible.server.serving import serve as run_server
    except ModuleNotFoundError as exc:
        raise UsageError(
            f"The server needs {exc.name}, which is not installed", remedy="pip install 'indelible[server]'"
        ) from exc
    run_server(common.settings_of(session), host, port, limit=max_content)


@click.group(cls=common.Group)
def apikey() -> None:
    """Keys with which agents speak to this server. A key is shown once, and kept only as a digest."""


def _keys(session: Session) -> ApiKeys:
    from indelible.server.apikeys import ApiKeys

    settings = common.settings_of(session)
    return ApiKeys(settings.config_dir)


@apikey.command(name="create")
@click.argument("agent")
@click.option(
    "--verb",
    "verbs",
    type=click.Choice(VERBS),
    multiple=True,
    default=AGENTS,
    show_default=True,
    help="Any number of times.",
)
@click.option("--prefix", default="", metavar="TEXT", help="Only for memories whose key begins with it.")
@click.pass_obj
def apikey_create(session: Session, agent: str, verbs: tuple[str, ...], prefix: str) -> None:
    """Make a key for AGENT and show it, once."""
    text = _keys(session).create(agent, verbs, prefix)
    session.output.give(text)
    session.output.aside(f"{WARN} shown only now; keep it where the agent finds it, for example in INDELIBLE_API_KEY")
    session.output.document(
        {
            "ok": True,
            "exit_code": 0,
            "slug": "apikey",
            "key": text,
            "id": text.split("_")[1],
            "agent": agent,
            "verbs": sorted(verbs),
            "prefix": prefix,
        }
    )


@apikey.command(name="list")
@click.pass_obj
def apikey_list(session: Session) -> None:
    """List keys by their ids, without the keys."""
    found = _keys(session).list()
    if not found:
        session.output.line("There is no key yet: 'indelible apikey create AGENT' makes one")
    for item in found:
        state = f"revoked {item.revoked}" if item.revoked else "in force"
        session.output.line(
            f"{item.id}  {visible(item.agent)}  {','.join(sorted(item.verbs))}  {visible(item.prefix) or '(every key)'}  {item.created}  {state}"
        )
    session.output.document(
        {
            "ok": True,
            "exit_code": 0,
            "slug": "apikeys",
            "keys": [
                {
                    "id": i.id,
                    "agent": i.agent,
                    "verbs": sorted(i.verbs),
                    "prefix": i.prefix,
                    "created": i.created,
                    "revoked": i.revoked,
                }
                for i in found
            ],
        }
    )


@apikey.command(name="revoke")
@click.argument("key_id")
@click.pass_obj
def apikey_revoke(session: Session, key_id: str) -> None:
    """End a key at once, in running servers too."""
    _keys(session).revoke(key_id)
    session.output.line(f"{OK} revoked {key_id}")
    session.output.document({"ok": True, "exit_code": 0, "slug": "revoked", "id": key_id})
