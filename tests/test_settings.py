from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from leasehold.errors import BadSetting
from leasehold.settings import Settings


def test_the_defaults_are_the_documented_ones() -> None:
    settings = Settings.from_env({})
    assert (settings.lease_seconds, settings.beat_seconds, settings.poll_seconds) == (60, 20, 1)
    assert (settings.database_url, settings.schema, settings.tenant) == (None, "leasehold", None)
    assert settings == Settings()


def test_the_environment_is_read_and_empty_means_unset() -> None:
    settings = Settings.from_env(
        {
            "LEASEHOLD_DATABASE_URL": "postgresql://x",
            "LEASEHOLD_SLOTS": "3",
            "LEASEHOLD_LEASE_SECONDS": "2",
            "LEASEHOLD_BEAT_SECONDS": "0.5",
            "LEASEHOLD_HOME": "~/jobs",
            "LEASEHOLD_TENANT": "",
            "SLOTS": "99",
        }
    )
    assert (settings.database_url, settings.slots, settings.lease_seconds) == ("postgresql://x", 3, 2.0)
    assert settings.home == Path.home() / "jobs"
    assert settings.tenant is None


def test_an_override_wins_and_none_is_no_override() -> None:
    env = {"LEASEHOLD_SLOTS": "3", "LEASEHOLD_TENANT": "acme"}
    settings = Settings.from_env(env, slots=5, tenant=None)
    assert (settings.slots, settings.tenant) == (5, "acme")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("LEASEHOLD_SLOTS", "many", "whole number"),
        ("LEASEHOLD_SLOTS", "0", "from 1"),
        ("LEASEHOLD_SLOTS", "2.5", "whole number"),
        ("LEASEHOLD_LEASE_SECONDS", "-1", "seconds"),
        ("LEASEHOLD_LEASE_SECONDS", "0", "seconds"),
        ("LEASEHOLD_LEASE_SECONDS", "nan", "seconds"),
        ("LEASEHOLD_LEASE_SECONDS", "inf", "seconds"),
        ("LEASEHOLD_POLL_SECONDS", "1s", "seconds"),
        ("LEASEHOLD_SCHEMA", "My Schema", "lower-case identifier"),
        ("LEASEHOLD_SCHEMA", 'x"; drop schema public', "lower-case identifier"),
        ("LEASEHOLD_SCHEMA", "x" * 41, "40 characters"),
        ("LEASEHOLD_SCHEMA", "schéma", "lower-case identifier"),
        ("LEASEHOLD_PUBLIC_URL", "jobs.example.com", "the URL"),
        ("LEASEHOLD_PUBLIC_URL", "https://jobs.example.com/path", "the URL"),
        ("LEASEHOLD_HOSTS", "https://jobs.example.com", "names"),
        ("LEASEHOLD_HOSTS", "jobs.*.com", "names"),
        ("LEASEHOLD_HOSTS", "jobs,", "names"),
        ("LEASEHOLD_OIDC_ISSUER", "http://issuer.example.com", "https://"),
        ("LEASEHOLD_OIDC_ISSUER", "issuer.example.com", "https://"),
        ("LEASEHOLD_SIGNUP", "anybody", "invite"),
        ("LEASEHOLD_HOME", "~no-such-user-anywhere/home", "folder"),
    ],
)
def test_a_bad_value_names_itself_its_source_and_what_is_allowed(name: str, value: str, allowed: str) -> None:
    with pytest.raises(BadSetting) as problem:
        Settings.from_env({name: value})
    said = str(problem.value)
    assert name in said
    assert repr(value) in said
    assert "environment" in said
    assert allowed in said
    assert name in (problem.value.hint or "")


def test_an_issuer_needs_a_client_and_google_is_a_short_name() -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_OIDC_CLIENT_ID is not"):
        Settings.from_env({"LEASEHOLD_OIDC_ISSUER": "google"})
    env = {
        "LEASEHOLD_OIDC_ISSUER": "Google",
        "LEASEHOLD_OIDC_CLIENT_ID": "c",
        "LEASEHOLD_PUBLIC_URL": "https://x.example/",
    }
    settings = Settings.from_env(env)
    assert (settings.oidc_issuer, settings.public_url) == ("https://accounts.google.com", "https://x.example")
    assert settings.signup == "invite"


@pytest.mark.parametrize("beat", [10.0, 11.0])
def test_a_beat_of_half_a_lease_is_the_slowest_there_is(beat: float) -> None:
    values: dict[str, Any] = {"lease_seconds": 20.0, "beat_seconds": beat}
    if beat <= 10:
        assert Settings(**values).beat_seconds == beat
        return
    with pytest.raises(BadSetting, match=r"LEASEHOLD_BEAT_SECONDS=11 .*LEASEHOLD_LEASE_SECONDS=20"):
        Settings(**values)


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().slots = 5  # type: ignore[misc]
