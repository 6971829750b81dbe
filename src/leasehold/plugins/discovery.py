"""Packs: plug-ins with kinds and tables of their own, found by ``pip install`` alone.

A distribution declares ``[project.entry-points."leasehold.packs"]`` with ``shop = "your_shop:feature"``; workers and
``leasehold up`` then run its handlers, and ``leasehold db migrate`` makes its tables. ``LEASEHOLD_PACKS`` narrows it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from typing import TypeVar

from leasehold.database.plugin_schema import PackFiles, read_files
from leasehold.errors import BadInput, BadSetting, LeaseholdError
from leasehold.feature import Feature, load_all
from leasehold.program.app import Leasehold
from leasehold.settings import Settings

T = TypeVar("T")

GROUP = "leasehold.packs"
#: The value of LEASEHOLD_PACKS that leaves all packs out.
NONE = "none"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")
# Schemas are called <schema>_<pack>: these would be mistaken for a role or a schema of ours.
_RESERVED = {"owner", "api", "worker", "operator", "readonly", "test", "pack", NONE}
_ADDRESS = re.compile(r"(/\.well-known)?/[a-z0-9_-]{1,20}")
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*extra == ['\"](?P<extra>[a-z0-9-]+)['\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledFeature:
    """A feature that a distribution brings: a pack."""

    feature: Feature
    distribution: str
    version: str

    def __post_init__(self) -> None:
        name = self.feature.name
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise BadInput(
                f"a pack cannot be called {name!r}",
                hint="lower-case letters, digits and _, at most 20, and none of: " + ", ".join(sorted(_RESERVED)),
            )
        for address in self.feature.addresses:
            if not _ADDRESS.fullmatch(address) or address == "/v1":
                raise BadInput(
                    f"pack {name} cannot have the address {address!r}",
                    hint="one word after a slash, as in /p",
                )

    def __str__(self) -> str:
        return f"pack {self.feature.name} ({self.distribution} {self.version})"

    def load(self, what: str, part: str, type_: type[T]) -> T:
        """A part that the feature names, such as one of its ``routes``."""
        try:
            loaded = self.feature.load(part)
        except Exception as problem:
            raise LeaseholdError(
                f"{self}: its {what} {part} cannot be loaded: {type(problem).__name__}: {problem}",
                hint=f"repair or uninstall {self.distribution}, or leave the pack out with LEASEHOLD_PACKS",
            ) from problem
        if not isinstance(loaded, type_):
            raise LeaseholdError(f"{self}: {part} is a {type(loaded).__name__}, not made by leasehold.web.{what}()")
        return loaded


def app_of(feature: Feature) -> Leasehold:
    """The app with all kinds of a pack; each is called ``<name>.<verb>``."""
    apps = list({id(app): app for part in feature.kinds for app in [feature.load(part)]}.values())
    app: Leasehold = apps[0] if len(apps) == 1 else Leasehold()
    for part in apps if len(apps) != 1 else ():
        app.include(part)
    for kind in app.handlers:
        if not kind.startswith(f"{feature.name}."):
            raise BadInput(f"pack {feature.name} has a kind {kind}", hint=f"call it {feature.name}.<verb>")
    return app


def files_of(feature: Feature) -> PackFiles:
    """The SQL files of a pack, in order."""
    return read_files(feature.name, feature.folder("sql"))


def discover(names: str | None = None) -> list[InstalledFeature]:
    """The installed packs, or those that ``names`` (LEASEHOLD_PACKS) chooses, by name."""
    chosen = _chosen(names)
    if chosen is not None and not chosen:
        return []  # without a look at everything that is installed
    installed: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if missing := _missing(entry):
            if chosen and entry.name in chosen:
                raise BadSetting(
                    f"LEASEHOLD_PACKS names {entry.name}, which lacks {', '.join(missing)}",
                    hint=f"pip install '{_origin(entry)[0]}[{','.join(entry.extras)}]'",
                )
            continue
        if entry.name in installed and _origin(installed[entry.name]) != _origin(entry):
            both = " and ".join(" ".join(_origin(one)) for one in (installed[entry.name], entry))
            raise LeaseholdError(f"two packs are called {entry.name}: {both}", hint="uninstall one of them")
        installed[entry.name] = entry
    if chosen is not None and (unknown := sorted(chosen - installed.keys())):
        known = ", ".join(f"{name} ({' '.join(_origin(installed[name]))})" for name in sorted(installed)) or "none"
        raise BadSetting(
            f"LEASEHOLD_PACKS names {', '.join(unknown)}, which is not installed", hint=f"installed packs: {known}"
        )
    return [_load(installed[name]) for name in sorted(installed) if chosen is None or name in chosen]


def assembled(
    found: Iterable[InstalledFeature], app: Leasehold | None = None, settings: Settings | None = None
) -> Leasehold:
    """One app with the handlers of the program's own (if any), of all features and packs. No kind has two handlers."""
    everything = Leasehold(settings)
    owners: dict[str, str] = {}
    parts: list[tuple[str, Leasehold | None]] = [("your app", app)]
    parts += [("Leasehold itself", part) for part in load_all("kinds")]
    parts += [(str(one), app_of(one.feature)) for one in found]
    for who, part in parts:
        if part is None:
            continue
        for kind in part.handlers:
            if kind in owners:
                raise BadInput(f"{kind} has two handlers: one of {owners[kind]}, one of {who}")
            owners[kind] = who
        everything.include(part)
    return everything


def files_of_all(found: Iterable[InstalledFeature]) -> list[PackFiles]:
    """Those of the packs that have any."""
    return [files for one in found if (files := files_of(one.feature)).files]


def _chosen(names: str | None) -> set[str] | None:
    if names is None:
        return None
    return {name.strip() for name in names.split(",")} - {"", NONE}


def _load(entry: EntryPoint) -> InstalledFeature:
    distribution, version = _origin(entry)
    try:
        feature = entry.load()
    except LeaseholdError:
        raise
    except Exception as problem:
        raise LeaseholdError(
            f"pack {entry.name} ({distribution} {version}) cannot be loaded: {type(problem).__name__}: {problem}",
            hint=f"repair or uninstall {distribution}, or leave the pack out with LEASEHOLD_PACKS",
        ) from problem
    if not isinstance(feature, Feature) or feature.name != entry.name:
        is_feature = isinstance(feature, Feature)
        what = f"the pack {feature.name}" if is_feature else f"a {type(feature).__name__}"
        raise LeaseholdError(f"{distribution} {version} says that {entry.value} is the pack {entry.name}; it is {what}")
    return InstalledFeature(feature=feature, distribution=distribution, version=version)


def _missing(entry: EntryPoint) -> list[str]:
    """What is not installed of the extras that an entry point names, as in ``shop = "acme.shop:feature [shop]"``."""
    requires = entry.dist.requires if entry.extras and entry.dist else None
    wanted = [_REQUIREMENT.match(line) for line in requires or []]
    names = [found["name"] for found in wanted if found and found["extra"] in entry.extras]
    return [name for name in names if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _origin(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "?")
