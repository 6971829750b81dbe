"""Packs: plug-ins with kinds and tables of their own, found by ``pip install`` alone.

A distribution declares ``[project.entry-points."leasehold.packs"]`` with ``shop = "your_shop:pack"``; workers and
``leasehold up`` then run its handlers, and ``leasehold db migrate`` makes its tables. ``LEASEHOLD_PACKS`` narrows it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, TypeVar

from leasehold import sql
from leasehold.app import Leasehold
from leasehold.engine.pack_files import PackFiles
from leasehold.errors import BadInput, BadSetting, LeaseholdError
from leasehold.handlers import Function, Handler
from leasehold.settings import Settings

if TYPE_CHECKING:
    from leasehold.schedules import Schedule

T = TypeVar("T")

GROUP = "leasehold.packs"
#: The value of LEASEHOLD_PACKS that leaves all packs out.
NONE = "none"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")
# Schemas are called <schema>_<pack>: these would be mistaken for a role or a schema of ours.
_RESERVED = {"owner", "api", "worker", "operator", "readonly", "test", "pack", NONE}
_ADDRESS = re.compile(r"(/\.well-known)?/[a-z0-9_-]{1,20}")
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*;.*extra == ['\"](?P<extra>[a-z0-9-]+)['\"]")
_FILE = re.compile(r"\d{4}_\w+\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A plug-in. ``app`` has its handlers (or ``handlers``: kind → function); every kind is called ``<name>.<verb>``.

    ``migrations`` is a folder of files ``0001_what.sql`` for tables of its own. ``schedules`` are declared as if by
    ``app.schedule``. ``routes`` names its routes (``"your_shop.routes:routes"``, see ``leasehold.web``): a name, for a
    worker has no use for them. ``pages`` names its pages on the dashboard in the same way. ``addresses`` are short ones
    beside ``/v1``, such as ``/p``, that the pack wants for routes that anybody may read. ``public_hosts`` names a
    function that says at which hosts of tenants such routes answer, too. Commands are an entry point of their own, see
    ``leasehold.shell``.
    """

    name: str
    app: Leasehold = field(default_factory=Leasehold, repr=False)
    handlers: Mapping[str, Function] = field(default_factory=dict, repr=False)
    migrations: Traversable | None = field(default=None, repr=False)
    routes: str | None = field(default=None, repr=False)
    pages: str | None = field(default=None, repr=False)
    addresses: Sequence[str] = field(default=(), repr=False)
    public_hosts: str | None = field(default=None, repr=False)
    schedules: "Sequence[Schedule]" = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED:
            raise BadInput(
                f"a pack cannot be called {self.name!r}",
                hint=f"lower-case letters, digits and _, at most 20, and none of: {', '.join(sorted(_RESERVED))}",
            )
        for address in self.addresses:
            if not _ADDRESS.fullmatch(address) or address == "/v1":
                raise BadInput(
                    f"pack {self.name} cannot have the address {address!r}", hint="one word after a slash, as in /p"
                )
        for kind in (*self.handlers, *self.app.handlers):
            if not kind.startswith(f"{self.name}."):
                raise BadInput(f"pack {self.name} has a kind {kind}", hint=f"call it {self.name}.<verb>")
        for kind in self.handlers:
            self.app.handler(kind)(self.handlers[kind])
        for schedule in self.schedules:
            self.app.declare(schedule)

    @property
    def kinds(self) -> dict[str, Handler]:
        return self.app.handlers

    @property
    def files(self) -> PackFiles:
        """Its migrations, in order."""
        return PackFiles(pack=self.name, files=tuple(_read(self.name, self.migrations)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pack, and the distribution that brought it."""

    pack: Pack
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"pack {self.pack.name} ({self.distribution} {self.version})"

    def load(self, what: str, path: str | None, type_: type[T]) -> T:
        """The ``routes`` or ``pages`` that the pack names by this path."""
        module, _, name = (path or "").partition(":")
        try:
            loaded = getattr(import_module(module), name)
        except Exception as problem:
            raise LeaseholdError(
                f"{self}: its {what} {path} cannot be loaded: {type(problem).__name__}: {problem}",
                hint=f"repair or uninstall {self.distribution}, or leave the pack out with LEASEHOLD_PACKS",
            ) from problem
        if not isinstance(loaded, type_):
            raise LeaseholdError(f"{self}: {path} is a {type(loaded).__name__}, not made by leasehold.web.{what}()")
        return loaded


def discover(names: str | None = None) -> list[Found]:
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


def assembled(found: Iterable[Found], app: Leasehold | None = None, settings: Settings | None = None) -> Leasehold:
    """One app with the handlers of the program's own (if any) and of all packs; a kind that two of them have fails."""
    everything = Leasehold(settings)
    owners: dict[str, str] = {}
    for who, part in [("your app", app), *((str(one), one.pack.app) for one in found)]:
        if part is None:
            continue
        for kind in part.handlers:
            if kind in owners:
                raise BadInput(f"{kind} has two handlers: one of {owners[kind]}, one of {who}")
            owners[kind] = who
        everything.include(part)
    return everything


def files_of(found: Iterable[Found]) -> list[PackFiles]:
    """The migrations of those that have any."""
    return [files for one in found if (files := one.pack.files).files]


def _chosen(names: str | None) -> set[str] | None:
    if names is None:
        return None
    return {name.strip() for name in names.split(",")} - {"", NONE}


def _load(entry: EntryPoint) -> Found:
    distribution, version = _origin(entry)
    try:
        pack = entry.load()
    except LeaseholdError:
        raise
    except Exception as problem:
        raise LeaseholdError(
            f"pack {entry.name} ({distribution} {version}) cannot be loaded: {type(problem).__name__}: {problem}",
            hint=f"repair or uninstall {distribution}, or leave the pack out with LEASEHOLD_PACKS",
        ) from problem
    if not isinstance(pack, Pack) or pack.name != entry.name:
        what = f"the pack {pack.name}" if isinstance(pack, Pack) else f"a {type(pack).__name__}"
        raise LeaseholdError(f"{distribution} {version} says that {entry.value} is the pack {entry.name}; it is {what}")
    return Found(pack=pack, distribution=distribution, version=version)


def _missing(entry: EntryPoint) -> list[str]:
    """What is not installed of the extras that an entry point names, as in ``shop = "acme.shop:pack [shop]"``."""
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


def _read(pack: str, folder: Traversable | None) -> list[sql.File]:
    if folder is None:
        return []
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    numbers = [name[:4] for name in names]
    for name in names:
        if not _FILE.fullmatch(name) or numbers.count(name[:4]) > 1:
            raise BadInput(
                f"pack {pack}: {name} is not a numbered migration of its own", hint="0001_orders.sql, 0002_mails.sql, …"
            )
    return [sql.File(name=f"packs/{pack}/{name}", text=(folder / name).read_text()) for name in names]
