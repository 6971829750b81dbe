"""The keys of an installation: from settings, from a file, and from its home folder."""

from pathlib import Path

import pytest

from leasehold.errors import BadSetting
from leasehold.installation_keys import secret_keys
from leasehold.sealing import Keys
from leasehold.settings import Settings

OLD, NEW = "an old key of at least 32 characters", "a new key of at least 32 characters!"


def test_keys_come_from_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"{NEW}\n{OLD}\n")
    assert secret_keys(Settings(secret_keys_file=file)).newest == Keys([NEW]).newest
    file.write_text("short\n")
    with pytest.raises(BadSetting, match="at least 32 characters"):
        secret_keys(Settings(secret_keys_file=file))
    with pytest.raises(BadSetting, match="cannot be read"):
        secret_keys(Settings(secret_keys_file=tmp_path / "nothing"))


def test_a_database_of_others_is_not_sealed_with_a_key_of_this_machine() -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_SECRET_KEYS is not set"):
        secret_keys(Settings(database_url="postgresql://elsewhere/db"))


def test_the_embedded_instance_makes_its_own_key_once(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    assert secret_keys(settings).newest == secret_keys(settings).newest
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "home").iterdir() if path.is_file()} == {0}
