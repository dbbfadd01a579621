"""The server as a process: killed, stopped, crowded, unread, and with its store moved under it."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.serving import PROGRAM, Served, rows, save

from indelible.errors import UsageError
from indelible.server.serving import CannotListen
from indelible.server.serving import serve as run_server

if TYPE_CHECKING:
    from tests.server.conftest import Serve


def test_it_says_where_it_serves_and_only_this_machine_reaches_it(served: Served) -> None:
    assert served.log.splitlines()[0] == f"Serving on {served.url}"
    assert served.url.startswith("http://127.0.0.1:")
    port = int(served.url.rsplit(":", 1)[1])
    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {
        "127.0.0.1"
    }
    for address in others:
        if address.startswith("127."):
            continue
        with socket.socket() as outside:
            assert outside.connect_ex((address, port)) != 0


def test_health_and_description_need_no_key_and_tell_nothing(served: Served) -> None:
    assert httpx.get(f"{served.url}/healthz").json() == {
        "status": "ok",
        "service": "indelible",
        "api": ["memory", "v1"],
    }
    assert httpx.get(f"{served.url}/openapi.json").status_code == 200


def test_a_taken_port_and_no_port_are_said_plainly(served: Served) -> None:
    port = int(served.url.rsplit(":", 1)[1])
    with pytest.raises(CannotListen, match="--port"):
        run_server(served.settings, port=port)
    for bad in (-1, 65_536):
        with pytest.raises(UsageError):
            run_server(served.settings, port=bad)
    with pytest.raises(CannotListen):
        run_server(served.settings, host="no such host.invalid", port=0)


def test_a_server_is_no_store_for_a_server(served: Served) -> None:
    with pytest.raises(UsageError):
        run_server(served.settings._replace(store="https://example.org"), port=0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_a_signal_and_what_has_begun_comes_to_its_end(serve: Serve, number: int) -> None:
    served = serve()
    client = served.client()
    host, port = served.url.removeprefix("http://").split(":")
    body = b'{"key":"k","content":"begun before the signal"}'
    with socket.create_connection((host, int(port)), timeout=20) as slow:
        slow.sendall(
            f"POST /memory/save HTTP/1.1\r\nHost: x\r\nx-api-key: {client.headers['x-api-key']}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        slow.sendall(body[:10])
        time.sleep(0.3)
        assert served.process is not None
        served.process.send_signal(number)
        time.sleep(0.5)
        slow.sendall(body[10:])
        assert slow.recv(4_096).startswith(b"HTTP/1.1 200")
    assert served.process.wait(20) == 0
    served.process = None
    assert rows(served.start().client()) == {"k": "begun before the signal"}


def test_nothing_acknowledged_is_lost_by_kill_9(serve: Serve) -> None:
    served = serve()
    chance, acknowledged = random.Random(7), {}
    for turn in range(4):
        url, key = served.url, served.key()
        stopped = threading.Event()

        def keep_saving(
            worker: int, url: str = url, key: str = key, turn: int = turn, stopped: threading.Event = stopped
        ) -> dict[str, str]:
            done: dict[str, str] = {}
            with httpx.Client(base_url=url, headers={"x-api-key": key}, timeout=10) as client:
                for number in range(10_000):
                    name, text = f"{turn}-{worker}-{number}", f"text {turn} {worker} {number}"
                    try:
                        if save(client, name, text).status_code == 200:
                            done[name] = text
                    except httpx.HTTPError:
                        break
                    if stopped.is_set():
                        break
            return done

        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(keep_saving, worker) for worker in range(4)]
            time.sleep(chance.uniform(0.2, 0.8))
            served.again(signal.SIGKILL)
            stopped.set()
            for job in jobs:
                acknowledged.update(job.result())
    client = served.client()
    found = rows(client)
    assert len(acknowledged) > 50
    assert {key: text for key, text in acknowledged.items() if found.get(key) != text} == {}
    assert client.get("/v1/audit").json()["ok"] is True


def test_sixteen_clients_at_once_each_get_their_own(serve: Serve) -> None:
    served = serve()
    agents = [f"agent-{number % 4}" for number in range(16)]
    keys = {agent: served.key(agent) for agent in set(agents)}

    def work(number: int) -> list[str]:
        wrong: list[str] = []
        with httpx.Client(base_url=served.url, headers={"x-api-key": keys[agents[number]]}, timeout=60) as client:
            for turn in range(25):
                name, text = f"client {number} & {turn}", f"{agents[number]} {number} {turn} 기억"
                if save(client, name, text).status_code != 200 or rows(client, name) != {name: text}:
                    wrong.append(name)
                save(client, "shared", text)
                checksum = client.get("/memory/load?key=shared.sha256")
                if client.get("/memory/load?key=shared").status_code != 200 or checksum.status_code != 200:
                    wrong.append(f"shared {turn}")
        return wrong

    with ThreadPoolExecutor(16) as pool:
        assert [wrong for found in pool.map(work, range(16)) for wrong in found] == []
    for agent in set(agents):
        client = served.client(agent)
        assert (len(rows(client)), client.get("/v1/audit").json()["ok"]) == (101, True)


def test_a_pipe_that_nobody_reads_does_not_hold_it_up(tmp_path: Path) -> None:
    served = Served(tmp_path, {})
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, '{"port": 0}'], env=served.environment, cwd=tmp_path, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        served.url = process.stderr.readline().decode().split("Serving on ", 1)[1].strip()
        client = served.client()
        for number in range(1_500):
            assert client.get("/memory/load?agent=somebody-else-" + "x" * 50 + str(number)).status_code == 403
        assert save(client, "k", "x").status_code == 200
        client.close()
    finally:
        process.terminate()
        assert process.wait(60) == 0
        process.stderr.close()


def test_the_log_holds_no_key_no_content_and_no_query(served: Served) -> None:
    client = served.client()
    save(client, "a private key name", "a private sentence")
    client.get("/memory/load", params={"key": "a private key name", "agent": "someone private"})
    client.post("/memory/save", content=b'{"key":"a private key name","content":["a private sentence"]}')
    served.stop()
    lines = served.log.splitlines()[1:]
    assert [json.loads(line)["status"] for line in lines] == [200, 403, 400]
    for secret in ("private", client.headers["x-api-key"].split("_", 2)[2]):
        assert secret not in served.log


def test_a_store_put_in_the_others_place_is_noticed_at_once(served: Served) -> None:
    client = served.client()
    save(client, "k", "old")
    served.stop()
    copy = Path(served.store + ".copy")
    assert not os.path.exists(served.store + "-wal") or os.path.getsize(served.store + "-wal") >= 0
    shutil.copytree(os.path.dirname(served.store), copy.parent.parent / "copy")
    served.start()
    client = served.client()
    save(client, "k", "new")
    folder = Path(served.store).parent
    folder.rename(folder.parent / "aside")
    shutil.copytree(folder.parent / "copy", folder)
    assert client.get("/memory/load?key=k").json()["slug"] == "rolled-back"
    assert save(client, "k", "newer").json()["slug"] == "rolled-back"
    shutil.rmtree(folder)
    (folder.parent / "aside").rename(folder)
    assert rows(client, "k") == {"k": "new"}


def test_the_operator_and_the_server_share_one_memory(served: Served) -> None:
    client = served.client()
    save(client, "by-server", "x")
    with served.memory() as memory:
        assert (memory.load("by-server").content, memory.load("by-server").attested) == (b"x", "server")
        memory.save("by-agent", b"y")
    found = {row["key_name"]: row["attested"] for row in client.get("/memory/load").json()["memories"]}
    assert found == {"by-agent": "agent", "by-server": "server"}
    assert save(client, "by-agent", "z").status_code == 200
    with served.memory() as memory:
        assert [item.key for item in memory.list().items] == ["by-agent", "by-server"]


def test_the_servers_key_is_private_and_stays_the_same(served: Served) -> None:
    first = served.client().get("/v1/keys").json()["server_keys"]
    served.again(signal.SIGTERM)
    assert served.client().get("/v1/keys").json()["server_keys"] == first
    keys = Path(served.settings.config_dir) / "keys"
    assert {path.stat().st_mode & 0o777 for path in keys.glob("*.key")} == {0o600}


def test_a_locked_store_is_busy_and_reads_go_on(served: Served) -> None:
    import apsw

    client = served.client()
    save(client, "k", "x")
    lock = apsw.Connection(served.store)
    lock.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(save, client, "k", "y")
        assert rows(served.client(), "k") == {"k": "x"}
        assert time.monotonic() - begun < 5
        lock.execute("ROLLBACK")
        lock.close()
        assert waiting.result().status_code == 200
