"""``leasehold webhooks …`` and ``leasehold reports …`` as real processes, with the receiver that comes with it."""

import http.client
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cell import Cell
from tests.cli.program import Program, Said, leasehold, started
from tests.features.webhooks.hooks import KEY
from tests.waiting import until
from tests.worker.running import ENVIRONMENT

#: The connectors as an app: the environment may have been installed before they were packs.
WORKER = {"LEASEHOLD_PACKS": "none"}


class Shell:
    def __init__(self, cell: Cell) -> None:
        self.env = cell.environment() | ENVIRONMENT | {"LEASEHOLD_SECRET_KEYS": KEY}

    def __call__(self, *arguments: str, code: int = 0, **env: str) -> Said:
        said = leasehold("webhooks", *arguments, env=self.env | env)
        assert said.code == code, said.err
        return said

    def json(self, *arguments: str) -> Any:
        return self(*arguments).json

    @contextmanager
    def listening(self, secret: str, port: int = 0) -> Iterator[tuple[Program, int]]:
        env = self.env | {"WEBHOOK_SECRET": secret}
        with started("webhooks", "listen", "--port", str(port), env=env) as program:
            program.said("listening at")
            found = re.search(r"127\.0\.0\.1:(\d+)", program.err)
            assert found
            yield program, int(found[1])


@pytest.fixture
def shell(cell: Cell) -> Shell:
    return Shell(cell)


@pytest.mark.long
def test_an_endpoint_from_its_making_to_its_end(shell: Shell) -> None:
    """The listener has to be there before the secret: it gets the right one when it is started again."""
    with shell.listening("whsec_AAAA") as (_, port):
        shell.env["LEASEHOLD_FETCH_ALLOW"] = f"127.0.0.1:{port}"
        made = shell.json("add", f"http://127.0.0.1:{port}/", "--event", "order.*", "--json")
    endpoint, secret = made["endpoint_id"], made["secret"]
    [listed] = shell.json("list", "--json")
    assert (listed["endpoint_id"], listed["state"], listed["secrets"]) == (endpoint, "enabled", 1)
    assert secret not in str(listed)
    with shell.listening(secret, port) as (listener, _), started("worker", env=shell.env | WORKER):
        delivery = shell("test", endpoint).out.strip()
        listener.said('"type": "endpoint.test"')
        assert shell.json("deliveries", endpoint, "--json")[0]["delivery_id"] == delivery
        shell("resend", delivery)
        shell("rotate", endpoint)
        shell("test", endpoint)  # the old secret still signs
        until_lines(listener, 3)
        listener.kill(signal.SIGINT)
        assert listener.ended().code == 130
    assert {attempt["status"] for attempt in shell.json("deliveries", "--delivery", delivery)} == {204}
    shell("pause", endpoint, "--reason", "they move house")
    assert shell.json("get", endpoint)["reason"] == "they move house"
    assert "is paused" in shell("test", endpoint, code=4).err
    shell("resume", endpoint)
    since = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S")
    assert "0 deliveries are on their way" in shell("recover", endpoint, "--since", since).err
    shell("remove", endpoint)
    assert "there is no endpoint" in shell("get", endpoint, code=3).err


def until_lines(program: Program, n: int) -> None:
    until(lambda: len(program.out.splitlines()) >= n, what=f"{n} lines in {program.out}{program.err}")


def test_a_listener_refuses_what_was_not_signed_with_its_secret(shell: Shell) -> None:
    with shell.listening("whsec_c2VjcmV0") as (listener, port):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("POST", "/", body=b"{}", headers={"webhook-id": "1", "webhook-timestamp": "1"})
        assert connection.getresponse().status == 401
        listener.said("refused: the header webhook-signature is missing")
        connection.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "http://example.com/"), "in the clear"),
        (("add", "https://example.com/", "--header", "X-Key"), "is not NAME=VALUE"),
        (("add", "https://example.com/", "--header", "X-Key=NO_SUCH"), "NO_SUCH is not set"),
        (("listen",), "WEBHOOK_SECRET is not set"),
    ],
)
def test_what_cannot_be_says_why(shell: Shell, arguments: tuple[str, ...], words: str) -> None:
    assert words in shell(*arguments, code=2).err


def test_a_header_comes_from_the_environment(shell: Shell) -> None:
    made = shell("add", "https://example.com/", "--header", "X-Key=MY_KEY", "--json", MY_KEY="k_123456789").json
    assert shell.json("get", made["endpoint_id"])["headers"] == ["X-Key"]


# -- reports --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_report_from_its_making_to_its_end(shell: Shell, tmp_path: Path) -> None:
    def reports(*arguments: str, code: int = 0, **env: str) -> Said:
        said = leasehold("reports", *arguments, env=shell.env | env)
        assert said.code == code, said.err
        return said

    page, table, data = tmp_path / "jobs.html", tmp_path / "sold.csv", tmp_path / "sold.json"
    data.write_text('[{"day": "monday", "sold": 7}]')
    with started("worker", env=shell.env | WORKER) as worker:
        worker.said("worker started")
        report_id = reports("create", "jobs", "--to", str(page)).out.strip()
        reports("create", "--data", str(data), "--format", "csv", "--title", "Sold", "--to", str(table))
    assert report_id in page.read_text(), "the job that makes it is one of the jobs"
    assert table.read_bytes() == b"day,sold\r\nmonday,7\r\n"
    assert sorted(one["title"] for one in reports("list", "--json").json) == ["Jobs", "Sold"]
    link = reports("link", report_id, LEASEHOLD_PUBLIC_URL="https://jobs.example.com").out.strip()
    assert link.startswith(f"https://jobs.example.com/v1/reports/{report_id}/file?expires=")
    again = tmp_path / "again.html"
    reports("download", report_id, "--to", str(again))
    assert again.read_bytes() == page.read_bytes()
    reports("remove", report_id)
    reports("download", report_id, "--to", str(again), code=3)
    assert "activity has no filter state" in reports("create", "activity", "--state", "dead", code=2).err
