"""The secrets of an installation: what API keys are digested with, and what tenants' secrets are sealed with."""

from leasehold.errors import BadSetting
from leasehold.postgres import Home, instance_home
from leasehold.sealing import Keys
from leasehold.settings import Settings
from leasehold.tokens import Peppers

_PEPPER = "key_pepper"
_KEY = "secret_key"


def peppers(settings: Settings, *, loopback: bool = True) -> Peppers:
    """``LEASEHOLD_KEY_PEPPER``; on loopback also the secret that the instance's folder keeps, made at its first use."""
    if settings.key_pepper:
        return Peppers(settings.key_pepper.split(","))
    if not loopback:
        raise BadSetting(
            f"LEASEHOLD_KEY_PEPPER is not set, and {settings.host} is not only this machine",
            hint="set it to a secret text of at least 32 characters, the same for every process:"
            ' python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    home = Home(instance_home(settings.home))
    return Peppers([home.secret(_PEPPER)])


def secret_keys(settings: Settings) -> Keys:
    """``LEASEHOLD_SECRET_KEYS`` or its file; with the embedded PostgreSQL also the key that its folder keeps."""
    if settings.secret_keys:
        return Keys(settings.secret_keys.split(","))
    if settings.secret_keys_file:
        return Keys(_lines(settings))
    if settings.database_url or settings.worker_url or settings.api_url or settings.operator_url:
        raise BadSetting(
            "LEASEHOLD_SECRET_KEYS is not set, and nothing may be sealed with a key of this machine alone",
            hint="set it to a secret text of at least 32 characters, the same for every process:"
            ' python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    return Keys([Home(instance_home(settings.home)).secret(_KEY)])


def _lines(settings: Settings) -> list[str]:
    path = settings.secret_keys_file
    assert path is not None
    try:
        lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise BadSetting(f"LEASEHOLD_SECRET_KEYS_FILE: {path} cannot be read: {why}") from None
    if not lines or any(len(line) < 32 for line in lines):
        raise BadSetting(f"LEASEHOLD_SECRET_KEYS_FILE: {path} does not have lines of at least 32 characters")
    return lines
