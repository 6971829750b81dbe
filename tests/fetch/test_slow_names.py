"""The system's own resolver against a DNS server that does not answer: real packets, in a network of the test's own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: The namespaces end with the process. What it mounts is seen by it alone.
_PREPARE = """
ip link set lo up && mount --bind "$1/resolv.conf" /etc/resolv.conf && mount --bind "$1/hosts" /etc/hosts &&
exec "$2" -m tests.fetch.slow_names
"""


def can_unshare() -> bool:
    unshare = shutil.which("unshare")
    command = [unshare or "unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"]
    return unshare is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.long
def test_slow_names_of_one_tenant_delay_nobody_else_and_hosts_and_search_domains_hold(tmp_path: Path) -> None:
    if not can_unshare():
        pytest.skip("no namespace can be made here")
    # As in a pod of Kubernetes: short names are completed, and what has few dots is tried with each
    # domain first.
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\nsearch shop.svc.test\noptions ndots:2 timeout:5\n")
    (tmp_path / "hosts").write_text("93.184.215.14 hosted.example\n")
    command = ["unshare", "--net", "--mount", "sh", "-c", _PREPARE, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["said"] == {"quick.test": "hello", "hosted.example": "hello", "short": "hello"}
    assert found["given_up_before"] == 0, "nobody waited until the slow ones were given up"
    assert found["slow"] == ["FetchUnreachable: slow-0.test was not resolved within 5 s"]
