"""A PgBouncer of a test's own: transaction mode, two server connections for each user and database."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.waiting import until

SERVERS = 2  # connections to PostgreSQL for each user and database
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

_CONFIG = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {servers}
reserve_pool_size = 0
max_client_conn = 200
query_wait_timeout = 30
"""


class Bouncer:
    """Where it listens; ``through`` makes the URL that goes through it of one that does not."""

    def __init__(self, port: int, server: str) -> None:
        self.port = port
        self._server = server

    def through(self, url: str) -> str:
        return url.replace(f"@{self._server}/", f"@127.0.0.1:{self.port}/")


@contextmanager
def bouncing(url: str, passwords: Mapping[str, str]) -> Iterator[Bouncer]:
    """In front of the server of this URL, for these users."""
    assert PROGRAM
    parts = urlsplit(url)
    with tempfile.TemporaryDirectory(prefix="leasehold-bouncer-") as name:
        folder, listen = Path(name), _free_port()
        (folder / "users").write_text("".join(f'"{user}" "{word}"\n' for user, word in passwords.items()))
        (folder / "config").write_text(
            _CONFIG.format(host=parts.hostname, port=parts.port, listen=listen, folder=folder, servers=SERVERS)
        )
        with (folder / "log").open("w+b") as log:
            process = subprocess.Popen(
                [PROGRAM, str(folder / "config")], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **_account(folder)
            )
            try:
                until(lambda: _answers(listen) or process.poll() is not None, what="PgBouncer")
                assert process.poll() is None, (folder / "log").read_text()
                yield Bouncer(listen, f"{parts.hostname}:{parts.port}")
            finally:
                process.kill()
                process.wait()


def _account(folder: Path) -> dict[str, Any]:
    """It refuses to run as root; then the folder goes to somebody else."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.iterdir()):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
