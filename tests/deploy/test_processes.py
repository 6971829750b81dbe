"""What compose.yaml starts, without containers: its roles, its commands, its health checks, as real processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from leasehold.postgres import Home, Server, ephemeral_home, find_binaries
from tests.cli.program import leasehold, started
from tests.deploy.files import DEPLOY, documents
from tests.waiting import until

pytestmark = pytest.mark.long

[COMPOSE] = documents(DEPLOY / "compose.yaml")
PASSWORDS = {f"LEASEHOLD_{role}_PASSWORD": f"the {role} pass'word" for role in ("API", "WORKER", "OPERATOR")}


def checks_out(service: str, port: int, inside: int) -> bool:
    """The health check of a service, run as it stands, but for the port."""
    _, _, option, code = COMPOSE["services"][service]["healthcheck"]["test"]
    assert str(inside) in code
    return (
        subprocess.run([sys.executable, option, code.replace(str(inside), str(port))], capture_output=True).returncode
        == 0
    )


def command_of(service: str) -> list[str]:
    return [word.replace("0.0.0.0", "127.0.0.1") for word in COMPOSE["services"][service]["command"]]


async def test_the_roles_and_processes_of_the_compose_file_work_together() -> None:
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(home.path, ephemeral=True)
    try:
        admin = urlsplit((await asyncio.to_thread(server.start)).url("leasehold"))
        await asyncio.to_thread(run_all, admin)
    finally:
        await asyncio.to_thread(server.stop)
        home.wipe()


def run_all(admin: Any) -> None:
    libpq = {"PGHOST": admin.hostname, "PGPORT": str(admin.port), "PGPASSWORD": admin.password}
    path = f"{find_binaries().bin}:{os.environ['PATH']}"
    env = {"PATH": path, **libpq, **PASSWORDS, "POSTGRES_DB": "leasehold"}
    subprocess.run(["createdb", "--username", "postgres", "leasehold"], env=env, check=True)
    subprocess.run([DEPLOY / "postgres" / "roles.sh"], env=env, check=True)

    assert leasehold(*command_of("migrate"), env={"LEASEHOLD_DATABASE_URL": admin.geturl()}).code == 0
    urls = {
        f"LEASEHOLD_{role}_URL": f"postgresql://leasehold_{role.lower()}:the%20{role}%20pass%27word@{admin.hostname}:{admin.port}/leasehold"
        for role in ("API", "WORKER", "OPERATOR")
    }
    secrets = {"LEASEHOLD_KEY_PEPPER": "p" * 32, "LEASEHOLD_SECRET_KEYS": "s" * 32}
    assert leasehold("tenants", "create", "acme", env=urls).code == 0
    asked = next(line for line in (DEPLOY / "deploy.sh").read_text().splitlines() if " keys create " in line)
    key = leasehold(*asked.partition(" server ")[2].rstrip(")").split(), env=urls | secrets)
    assert (key.code, key.err.split(";")[0]) == (0, "metrics")
    assert key.out.startswith("lh_live_"), "nothing but the key, as deploy.sh keeps it"

    given = COMPOSE["services"]["worker"]["environment"]
    limit = {"LEASEHOLD_MAX_MEMORY_MB": str(given["LEASEHOLD_MAX_MEMORY_MB"])}
    of_worker = {"LEASEHOLD_WORKER_URL": urls["LEASEHOLD_WORKER_URL"], "LEASEHOLD_WORKER_PORT": "0", **limit, **secrets}
    of_server = {name: urls[name] for name in ("LEASEHOLD_API_URL", "LEASEHOLD_OPERATOR_URL")} | secrets
    with (
        started(*command_of("worker"), env=of_worker) as worker,
        started(*command_of("server"), "--port", "0", env=of_server) as api,
    ):
        worker.said('"message": "worker answers"')
        answers = next(json.loads(line) for line in worker.err.splitlines() if "worker answers" in line)
        until(lambda: checks_out("worker", answers["port"], 9480), what="a healthy worker")
        api.said("/v1")
        port = int(api.err.split("http://127.0.0.1:")[1].split("/")[0])
        until(lambda: checks_out("server", port, 8080), what="a healthy server")
        ran = leasehold("run", "demo.hello", "name=compose", "--follow", env=urls | {"LEASEHOLD_TENANT": "acme"})
        assert (ran.code, ran.out) == (0, "Hello, compose!\n")
        assert leasehold("doctor", env=of_server).code == 0
        worker.kill(signal.SIGTERM)
        assert worker.ended().code == 0
        assert not checks_out("worker", answers["port"], 9480)
        assert api.stopped().code == 0


def test_deploy_makes_its_secrets_once_and_migrates_before_it_starts_anything(tmp_path: Path) -> None:
    """With a docker that only writes down what it was asked."""
    for name in ("deploy.sh", ".env.example"):
        (tmp_path / name).write_bytes((DEPLOY / name).read_bytes())
    (tmp_path / "deploy.sh").chmod(0o755)
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\ncase "$*" in *keys*) echo lh_live_key;; esac\n')
    docker.chmod(0o755)
    env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    subprocess.run([tmp_path / "deploy.sh", "--profile", "monitoring"], env=env, check=True, capture_output=True)
    made = (tmp_path / ".env").read_text()
    values = dict(line.split("=", 1) for line in made.splitlines() if "=" in line and not line.startswith("#"))
    secret = [value for name, value in values.items() if name.endswith(("_PASSWORD", "_PEPPER", "_KEYS"))]
    assert len(secret) == len(set(secret)) == 8
    assert min(map(len, secret)) == 64
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    kept = tmp_path / "secrets" / "metrics_key"
    assert kept.read_text() == "lh_live_key\n"
    assert (kept.stat().st_mode & 0o777, kept.stat().st_uid) == (0o400, 65534), "Prometheus is nobody in its container"
    assert kept.parent.stat().st_mode & 0o777 == 0o711, "nobody else lists it"
    asked = (tmp_path / "asked").read_text().splitlines()
    migrates, starts = (
        next(n for n, line in enumerate(asked) if words in line) for words in ("run --rm migrate", "--remove-orphans")
    )
    assert migrates < starts
    assert "--profile monitoring" in asked[starts]
    subprocess.run([tmp_path / "deploy.sh"], env=env, check=True, capture_output=True)
    assert (tmp_path / ".env").read_text() == made
    made_keys = [line for line in (tmp_path / "asked").read_text().splitlines() if "keys create" in line]
    assert len(made_keys) == 1
    assert made_keys[0].endswith("keys create prometheus --operator --scope metrics")
    kept.chmod(0o644)
    subprocess.run([tmp_path / "deploy.sh"], env=env, check=True, capture_output=True)
    assert kept.stat().st_mode & 0o777 == 0o400, "what others could read is made anew"
