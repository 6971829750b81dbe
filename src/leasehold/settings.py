"""All settings in one frozen object, read once from ``LEASEHOLD_*`` and passed down."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leasehold.errors import BadSetting

_SWITCH = {"1": True, "true": True, "0": False, "false": False}


def _text(value: str) -> str:
    return value


def _seconds(value: str) -> float:
    seconds = float(value)
    if not 0 < seconds < 1e9:
        raise ValueError
    return seconds


def _count(value: str) -> int:
    count = int(value)
    if count < 1:
        raise ValueError
    return count


def _whole(value: str) -> int:
    count = int(value)
    if count < 0:
        raise ValueError
    return count


def _switch(value: str) -> bool:
    if value.lower() not in _SWITCH:
        raise ValueError
    return _SWITCH[value.lower()]


def _schema(value: str) -> str:
    if not (value.isidentifier() and value.islower() and value.isascii() and len(value) <= 40):
        raise ValueError
    return value


def _path(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:  # ~somebody who is not there
        raise ValueError from None


def _level(value: str) -> str:
    if value.lower() not in ("debug", "info", "warning", "error"):
        raise ValueError
    return value.lower()


def _long_texts(value: str) -> str:
    if not all(len(text) >= 32 for text in value.split(",")):
        raise ValueError
    return value


def _word(value: str) -> str:
    if not (value.isascii() and value.isalnum() and value.islower() and len(value) <= 12):
        raise ValueError
    return value


def _origin(value: str) -> str:
    parts = urlsplit(value.rstrip("/"))
    origin = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.geturl() != origin:
        raise ValueError
    return origin


def _hosts(value: str) -> str:
    names = [name.strip().lower() for name in value.split(",")]
    if not all(re.fullmatch(r"(\*\.)?[a-z0-9_.-]+|[0-9a-f:]+|\*", name) for name in names):
        raise ValueError
    return ",".join(names)


def _issuer(value: str) -> str:
    if value.lower() == "google":
        return "https://accounts.google.com"
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ValueError
    return value


def _networks(value: str) -> str:
    for text in value.split(","):
        ip_network(text.strip())
    return value


def _signup(value: str) -> str:
    if value.lower() not in ("open", "invite"):
        raise ValueError
    return value.lower()


def _port(value: str) -> int:
    port = int(value)
    if not 0 <= port <= 65535:
        raise ValueError
    return port


def _setting(default: Any, read: Callable[[str], Any], allowed: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"read": read, "allowed": allowed, "secret": secret}, repr=not secret)


#: Variables that are no settings of a process: those of our compose file, of benchmarks and of programs over HTTP.
_READ_ELSEWHERE = {
    f"LEASEHOLD_{name}"
    for name in (
        "API_PASSWORD", "WORKER_PASSWORD", "OPERATOR_PASSWORD", "IMAGE", "WORKERS", "BENCH", "CORPORA", "URL", "KEY",
    )
}  # fmt: skip
#: Where PostgreSQL is, and where it is for each role.
_DATABASE_URLS = ("database_url", "api_url", "worker_url", "operator_url", "listen_url", "read_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One field per environment variable: ``lease_seconds`` is ``LEASEHOLD_LEASE_SECONDS``."""

    database_url: str | None = _setting(None, _text, "a postgresql:// URL (unset: the embedded PostgreSQL)")
    api_url: str | None = _setting(None, _text, "a postgresql:// URL that logs in as the api role")
    worker_url: str | None = _setting(None, _text, "a postgresql:// URL that logs in as the worker role")
    operator_url: str | None = _setting(None, _text, "a postgresql:// URL that logs in as the operator role")
    pooled: bool = _setting(
        False, _switch, "1 or true behind a pooler in transaction mode (PgBouncer), else 0 or false"
    )
    listen_url: str | None = _setting(
        None, _text, "a postgresql:// URL past the pooler, on which workers hear wake-ups"
    )
    read_url: str | None = _setting(
        None, _text, "a postgresql:// URL of a replica that lists and pages are read from (unset: the primary)"
    )
    read_staleness_seconds: float = _setting(2.0, _seconds, "seconds that what is read there may be old, at most")
    connect_seconds: float = _setting(
        5.0, _seconds, "seconds that a connection to a host of the database may take to open"
    )
    call_seconds: float = _setting(
        10.0, _seconds, "seconds that one call of the database may take, and the wait for a free connection before it"
    )
    long_call_seconds: float = _setting(
        120.0, _seconds, "seconds that a statement of a handler's own transaction may take, or one of upkeep"
    )
    schema: str = _setting("leasehold", _schema, "a lower-case identifier of at most 40 characters")
    home: Path | None = _setting(None, _path, "a folder for the embedded PostgreSQL of this instance")
    pg_bin: Path | None = _setting(None, _path, "the folder that holds PostgreSQL's initdb and postgres")
    tenant: str | None = _setting(
        None, _text, "a tenant's name or id (unset: default, in an installation that has no other)"
    )
    app: str | None = _setting(None, _text, "module:attribute of your Leasehold app")
    packs: str | None = _setting(None, _text, "names of packs separated by commas, or none (unset: all installed)")
    slots: int = _setting(300, _count, "a whole number from 1: attempts a worker runs at once")
    lease_seconds: float = _setting(60.0, _seconds, "seconds of silence after which a worker's leases are taken")
    beat_seconds: float = _setting(20.0, _seconds, "seconds between a worker's beats, at most half of the lease")
    poll_seconds: float = _setting(
        1.0, _seconds, "seconds between two looks for work where no wake-ups arrive; else 15 to 30"
    )
    history_days: int = _setting(90, _count, "days that ended jobs, their attempts and events are kept")
    result_days: int = _setting(7, _count, "days that results are kept")
    body_days: int = _setting(90, _count, "days that bodies are kept which handlers put")
    grace_seconds: float = _setting(30.0, _seconds, "seconds a stopping worker waits for what it runs")
    cancel_grace_seconds: float = _setting(10.0, _seconds, "seconds between a cancel and its enforcement")
    overrun_seconds: float = _setting(10.0, _seconds, "seconds past its hard timeout that end a stuck process")
    queues: str | None = _setting(None, _text, "a worker's queues, some with a limit: money=2,default (unset: its own)")
    max_jobs: int | None = _setting(None, _count, "jobs after which a worker process is replaced")
    max_memory_mb: int | None = _setting(None, _count, "resident megabytes after which a worker process is replaced")
    worker_port: int | None = _setting(
        None,
        _port,
        "a port for a worker's health and metrics; processes under one parent count up from it (unset: none)",
    )
    worker_host: str = _setting("127.0.0.1", _text, "the address that this port listens on")
    log_level: str = _setting("info", _level, "debug (each success too), info, warning or error")
    otel: bool = _setting(
        False, _switch, "1 or true for traces by OpenTelemetry, whose OTEL_* variables then hold; else 0 or false"
    )
    user_agent: str = _setting("leasehold", _text, "what requests to the outside call themselves")
    fetch_timeout_seconds: float = _setting(30.0, _seconds, "seconds that a request may take, redirects included")
    fetch_max_bytes: int = _setting(10_000_000, _count, "bytes that a body may have after decompression")
    fetch_max_redirects: int = _setting(5, _whole, "a whole number from 0: redirects that are followed")
    fetch_gap_seconds: float = _setting(1.0, _seconds, "seconds between two polite requests to one host")
    fetch_ports: str = _setting("80,443", _text, "ports that may be reached: 80,443,8000-8999")
    fetch_allow: str | None = _setting(
        None, _text, "internal hosts that may be reached: names, *.names, addresses, networks; with :port or without"
    )
    fetch_deny: str | None = _setting(
        None, _text, "hosts that may never be reached: names, *.names, addresses, networks; with :port or without"
    )
    fetch_proxy: str | None = _setting(None, _text, "an http:// URL of the proxy that all requests go through")
    objects_url: str | None = _setting(
        None, _text, "an S3-compatible bucket that keeps bodies: https://s3.example.com/bucket (unset: PostgreSQL)"
    )
    objects_region: str = _setting("us-east-1", _text, "the region that requests to it are signed for")
    objects_key_id: str | None = _setting(None, _text, "the id of its access key")
    objects_secret: str | None = _setting(None, _text, "the secret of its access key", secret=True)
    secret_keys: str | None = _setting(
        None,
        _long_texts,
        "a secret text of at least 32 characters that tenants' secrets are sealed with, the newest first, by commas",
        secret=True,
    )
    secret_keys_file: Path | None = _setting(None, _path, "a file with such texts instead, one a line, newest first")
    host: str = _setting("127.0.0.1", _text, "the address that the HTTP API listens on")
    port: int = _setting(8080, _port, "the port that the HTTP API listens on; 0 for any that is free")
    key_pepper: str | None = _setting(
        None,
        _long_texts,
        "a secret text of at least 32 characters, the newest first if there are several, by commas",
        secret=True,
    )
    key_env: str = _setting("live", _word, "a word of lower-case letters and digits that stands in every key")
    key_requests: int = _setting(60_000, _count, "requests a minute that one key may make of one process")
    ip_requests: int = _setting(
        120_000, _count, "requests a minute without valid credentials that one address may make of one process"
    )
    ip_refusals: int = _setting(
        100, _count, "bad keys a minute of one address, after which its bad keys are answered with 429"
    )
    request_seconds: float = _setting(
        10.0, _seconds, "seconds that the headers of a request may take to come, and each 512 KiB of its body"
    )
    max_body_bytes: int = _setting(17_000_000, _count, "bytes that the body of a request may have")
    large_bodies_bytes: int = _setting(
        64_000_000, _count, "bytes of all bodies above 64 KiB that one process has in work; of one tenant half of them"
    )
    streams_per_tenant: int = _setting(100, _count, "live streams and waiting requests of one tenant and process")
    public_url: str | None = _setting(
        None,
        _origin,
        "the URL under which people reach this server, such as https://jobs.example.com (unset: as asked)",
    )
    hosts: str | None = _setting(
        None,
        _hosts,
        "names that requests may call this server by, by commas: jobs.internal,*.cluster.local; * for any. That of"
        " LEASEHOLD_PUBLIC_URL, the server's address, and localhost where only this machine reaches it, are known",
    )
    session_hours: float = _setting(168.0, _seconds, "hours after which a person has to sign in again")
    oidc_issuer: str | None = _setting(
        None, _issuer, "google, or the https:// URL of an OpenID Connect issuer that signs people in (unset: none)"
    )
    oidc_client_id: str | None = _setting(None, _text, "the client id that the issuer knows this server by")
    oidc_client_secret: str | None = _setting(None, _text, "the client secret that the issuer gave", secret=True)
    signup: str = _setting(
        "invite", _signup, "invite (only those who are), or open (everybody gets a tenant of their own)"
    )
    cors_origins: str | None = _setting(None, _text, "origins whose pages may call the API, by commas (unset: none)")
    trusted_proxies: str | None = _setting(
        None, _networks, "addresses and networks whose X-Forwarded-For is believed, by commas (unset: none)"
    )
    amqp_url: str | None = _setting(None, _text, "an amqp:// URL of a RabbitMQ that carries wake-ups (unset: none)")
    amqp_exchange: str = _setting("leasehold", _text, "the exchange of the wake-ups")
    amqp_routing_key: str = _setting("jobs.trigger", _text, "the routing key of the wake-ups")

    def __post_init__(self) -> None:
        for name in _DATABASE_URLS:
            if (url := getattr(self, name)) is not None:
                require_postgresql(_name(name), url)
        if self.beat_seconds > self.lease_seconds / 2:
            raise BadSetting(
                f"LEASEHOLD_BEAT_SECONDS={self.beat_seconds:g} is more than half of"
                f" LEASEHOLD_LEASE_SECONDS={self.lease_seconds:g}: one late beat would lose every lease",
                hint=f"set LEASEHOLD_BEAT_SECONDS to {self.lease_seconds / 3:g} or less",
            )
        if self.oidc_issuer and not self.oidc_client_id:
            raise BadSetting(
                "LEASEHOLD_OIDC_ISSUER is set, and LEASEHOLD_OIDC_CLIENT_ID is not",
                hint="set LEASEHOLD_OIDC_CLIENT_ID to the id that the issuer gave this server",
            )

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None, **overrides: Any) -> "Settings":
        """Read ``LEASEHOLD_*``; keyword arguments that are not None win (they are command line flags)."""
        env = os.environ if env is None else env
        values = {f.name: _read(f.name, f.metadata, env[name]) for f in fields(cls) if env.get(name := _name(f.name))}
        return cls(**values | {name: value for name, value in overrides.items() if value is not None})


def require_postgresql(what: str, url: str) -> None:
    """Refuse a URL that the driver would refuse in words of its own; passwords are not shown."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        problem = "is not a URL"
    elif scheme.startswith(("postgresql+", "postgres+")):
        problem = f"begins with {scheme}://: what stands after the + names a driver, and Leasehold brings its own"
    elif scheme not in ("postgresql", "postgres"):
        problem = f"begins with {scheme}://, and Leasehold runs on PostgreSQL"
    elif _has_wrong_port(url):
        problem = "has no number where the port stands: / ? # @ : in a password are written %2F %3F %23 %40 %3A"
    else:
        return
    raise BadSetting(f"{what} {problem}", hint="postgresql://user:password@host:5432/database")


def _has_wrong_port(url: str) -> bool:
    """There may be several hosts, by commas."""
    hosts = re.split("[/?#]", url.partition("://")[2])[0].rpartition("@")[2]
    ports = [re.sub(r"^\[[^\]]*\]|^[^:]*", "", host) for host in hosts.split(",")]
    return not all(re.fullmatch(r"(:[0-9]{0,5})?", port) for port in ports)


def _name(field_name: str) -> str:
    return f"LEASEHOLD_{field_name.upper()}"


def _read(name: str, metadata: Mapping[str, Any], value: str) -> Any:
    shown = "***" if metadata["secret"] else repr(value)
    try:
        return metadata["read"](value)
    except ValueError:
        raise BadSetting(
            f"{_name(name)}={shown} in the environment is not {metadata['allowed']}",
            hint=f"unset {_name(name)} for the default, or set it to {metadata['allowed']}",
        ) from None


def unknown_variables(env: Mapping[str, str] | None = None) -> list[str]:
    """A sentence for each ``LEASEHOLD_…`` that nobody reads: most are typing errors, and change nothing."""
    env = os.environ if env is None else env
    known = {_name(f.name) for f in fields(Settings)} | _READ_ELSEWHERE
    strange = [name for name in sorted(env) if name.startswith("LEASEHOLD_") and name not in known]
    if not strange:
        return []
    from importlib.metadata import entry_points  # here, as below: most environments have no such variable

    of_packs = tuple(f"LEASEHOLD_{entry.name.upper()}_" for entry in entry_points(group="leasehold.packs"))
    return [
        f"{name} is not a setting and has no effect{_meant(name, known)}"
        for name in strange
        if not name.startswith(("LEASEHOLD_TEST_", *of_packs))
    ]


def _meant(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.8)
    return f": did you mean {near[0]}?" if near else ""


def describe(env: Mapping[str, str] | None = None) -> list[tuple[str, str, str]]:
    """Every setting as (name, value, origin), without the passwords of URLs."""
    env = os.environ if env is None else env
    settings = Settings.from_env(env)
    return [
        (
            _name(f.name),
            _shown(getattr(settings, f.name), f.metadata),
            "environment" if env.get(_name(f.name)) else "default",
        )
        for f in fields(Settings)
    ]


def _shown(value: Any, metadata: Mapping[str, Any]) -> str:
    if value is None:
        return "-"
    if metadata["secret"]:
        return "***"
    text = str(value)
    parts = urlsplit(text)
    if parts.password is None:
        return text
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")).geturl()
