"""`leasehold fetch` and `leasehold redact` as a shell sees them."""

import asyncio
import hashlib
import subprocess
from pathlib import Path

import pytest

from leasehold.cli.redact import blocks
from tests.cli.program import LEASEHOLD, Said, environment, leasehold
from tests.fetch.world import Site, moved, page, serving
from tests.waiting import PATIENCE_SECONDS


def redacted(text: bytes, *arguments: str) -> bytes:
    done = subprocess.run(
        [*LEASEHOLD, "redact", *arguments],
        input=text,
        capture_output=True,
        env=environment({}),
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def asked(*arguments: str, pages: dict[str, bytes]) -> Said:
    """`leasehold fetch` of a page of a server that the operator allows. HERE stands for the server's address."""
    async with serving(Site(pages)) as port:
        env = {"LEASEHOLD_FETCH_ALLOW": "127.0.0.1", "LEASEHOLD_FETCH_PORTS": str(port)}
        here = [argument.replace("HERE", f"http://127.0.0.1:{port}") for argument in arguments]
        return await asyncio.to_thread(leasehold, "fetch", *here, env=env)


# -- check ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1/", "127.0.0.1 is refused: it is not a public host (127.0.0.1 is 127.0.0.1: loopback)"),
        ("http://169.254.169.254/", "a metadata service"),
        ("http://2130706433/", "127.0.0.1 is refused"),
        ("https://localhost/", "localhost is refused"),
        ("https://8.8.8.8:22/", "port 22 is not open"),
        ("file:///etc/passwd", "file is not http or https"),
    ],
)
def test_check_refuses_with_the_reason(url: str, words: str) -> None:
    said = leasehold("fetch", url, "--check")
    assert (said.code, said.out) == (1, "")
    assert words in said.err
    as_json = leasehold("fetch", url, "--check", "--json")
    assert (as_json.code, as_json.err, as_json.json["allowed"]) == (1, "", False)
    assert as_json.json["reason"]


def test_check_allows_a_public_address_without_a_connection() -> None:
    said = leasehold("fetch", "https://8.8.8.8/x", "--check")
    assert (said.code, said.out, said.err) == (0, "allowed: https://8.8.8.8/x at 8.8.8.8\n", "")
    as_json = leasehold("fetch", "https://8.8.8.8/x", "--check", "--json")
    assert as_json.json == {"url": "https://8.8.8.8/x", "allowed": True, "addresses": ["8.8.8.8"]}


def test_a_bad_setting_names_itself() -> None:
    said = leasehold("fetch", "https://8.8.8.8/", "--check", env={"LEASEHOLD_FETCH_PORTS": "http"})
    assert said.code == 2
    assert "LEASEHOLD_FETCH_PORTS='http'" in said.err


# -- fetch ----------------------------------------------------------------------------------------------------------


async def test_the_body_goes_to_stdout_and_the_story_to_stderr() -> None:
    said = await asked("HERE/", pages={"/": moved("/a"), "/a": page(b"hello\n")})
    assert (said.code, said.out) == (0, "hello\n")
    assert "302 http://127.0.0.1" in said.err
    assert "200 http://127.0.0.1" in said.err


async def test_json_is_one_document() -> None:
    said = await asked("HERE/", "--json", pages={"/": page(b"hello", "X-Y: z")})
    assert (said.code, said.err) == (0, "")
    assert (said.json["status"], said.json["body"], said.json["bytes"]) == (200, "hello", 5)
    assert ["x-y", "z"] in said.json["headers"]
    assert said.json["sha256"] == hashlib.sha256(b"hello").hexdigest()
    binary = await asked("HERE/", "--json", pages={"/": page(b"\xff\x00")})
    assert binary.json["body_base64"] == "/wA="


async def test_a_body_can_go_to_a_file(tmp_path: Path) -> None:
    said = await asked("HERE/", "-o", str(tmp_path / "body"), pages={"/": page(b"\xff\x00")})
    assert (said.code, said.out) == (0, "")
    assert (tmp_path / "body").read_bytes() == b"\xff\x00"
    nowhere = await asked("HERE/", "-o", str(tmp_path / "no" / "body"), pages={"/": page(b"x")})
    assert nowhere.code == 2
    assert "cannot be written: No such file or directory" in nowhere.err


async def test_a_bad_status_is_a_failure_with_its_body() -> None:
    said = await asked("HERE/gone", pages={})
    assert (said.code, said.out) == (1, "not here")


async def test_limits_methods_and_headers_are_given_as_options() -> None:
    large = await asked("HERE/", "--max-bytes", "3", pages={"/": page(b"hello")})
    assert (large.code, large.out) == (1, "")
    assert "the body has more than 3 bytes" in large.err
    sent = await asked("HERE/", "-X", "post", "-d", "x=1", "-H", "X-Y: z", pages={"/": page(b"thanks")})
    assert (sent.code, sent.out) == (0, "thanks")
    bad = await asked("HERE/", "-H", "no colon", pages={})
    assert (bad.code, bad.out) == (2, "")


def test_a_refused_url_is_not_fetched() -> None:
    said = leasehold("fetch", "http://localhost/")
    assert (said.code, said.out) == (1, "")
    assert "error: localhost is refused: it is not a public host" in said.err
    assert "LEASEHOLD_FETCH_ALLOW" in said.err


# -- redact ---------------------------------------------------------------------------------------------------------

KEY = b"-----BEGIN RSA PRIVATE KEY-----\n" + b"MIIEpAIBAAKCAQEAx7Vd\n" * 30 + b"-----END RSA PRIVATE KEY-----\n"


def test_secrets_are_masked_and_everything_else_is_as_it_was() -> None:
    text = b"user=bob\r\npassword=hunter2x99\n\xff\xfe no text\n\nlast line without an end"
    assert redacted(text) == text.replace(b"hunter2x99", b"[redacted]")


def test_a_private_key_over_many_lines_is_removed_whole() -> None:
    out = redacted(b"before\n" + KEY + b"between\n" + KEY + b"after\n")
    assert b"MIIE" not in out
    assert [word in out for word in (b"before\n", b"between\n", b"after\n")] == [True] * 3


def test_a_private_key_without_an_end_is_removed_too() -> None:
    assert b"MIIE" not in redacted(b"x\n" + KEY.partition(b"-----END")[0])


def test_a_value_on_the_line_after_its_name_is_removed() -> None:
    text = b'- name: DB_PASSWORD\n  value: hunter2x99\n{"name": "API_KEY",\n "value": "abcd1234efgh5678"}\n'
    assert b"hunter2x99" not in redacted(text)
    assert b"abcd1234efgh5678" not in redacted(text)


def test_literal_secrets_are_masked_in_other_encodings_too(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("other-secret\ntr0ub4dor&3\n")
    out = redacted(b"tr0ub4dor&3 tr0ub4dor%263 dHIwdWI0ZG9yJjM=\n", "--secrets", str(tmp_path / "secrets"))
    assert out.count(b"[redacted]") == 3


def test_lines_come_as_they_go() -> None:
    """A pipe that is still open: `tail -f log | leasehold redact`."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*LEASEHOLD, "redact"], stdin=pipe, stdout=pipe, env=environment({})) as program:
        assert program.stdin
        assert program.stdout
        program.stdin.write(b"token=abcd1234efgh5678\n")
        program.stdin.flush()
        assert program.stdout.readline() == b"token=[redacted]\n"
    assert program.returncode == 0


def test_lines_are_held_only_for_what_goes_on() -> None:
    lines = ["a\n", "-----BEGIN PRIVATE KEY-----\n", "x\n", "-----END PRIVATE KEY-----\n", "name: b\n", "c\n", "d\n"]
    assert list(blocks(lines)) == ["a\n", "".join(lines[1:4]), "name: b\nc\n", "d\n"]


def test_a_key_that_never_ends_does_not_hold_up_the_world() -> None:
    pieces = list(blocks(["-----BEGIN PRIVATE KEY-----\n", *["x\n"] * 2000]))
    assert len(pieces) > 1000
    assert "".join(pieces).count("x\n") == 2000
