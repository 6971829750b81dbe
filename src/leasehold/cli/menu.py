"""The menu: our commands, and those that packs bring."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from leasehold.feature import features

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Commands of the program itself, below ``leasehold.cli``.
_OWN = {
    "up": "up:up",
    "down": "up:down",
    "serve": "serve:serve",
    "worker": "worker:worker",
    "db": "db:app",
    "doctor": "doctor:doctor",
    "config": "config:app",
    "packs": "packs:app",
    "redact": "redact:redact",
    "bench": "bench:app",
}


class Menu(TyperGroup):
    """Ours first. Commands are found by their names, so that `--help` imports none of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Ours()

    def list_commands(self, ctx: Any) -> list[str]:
        return [*_places(), *sorted(_of_packs().keys() - _places().keys())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _places():
            return self.commands[cmd_name]
        entry = _of_packs().get(cmd_name)
        return _Later(cmd_name, entry) if entry else None


@cache
def _places() -> dict[str, str]:
    """Where each of our commands is: a function, or a Typer with commands of its own."""
    of_features = {
        name: f"{feature.package}.{part}" for feature in features() for name, part in feature.commands.items()
    }
    return {name: f"leasehold.cli.{part}" for name, part in _OWN.items()} | of_features


class _Ours(Mapping[str, Any]):
    """Our commands by name. Each is imported when it is asked for: a worker that starts has no use for the others."""

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = _places()[name].partition(":")
        found = getattr(import_module(module), attribute)
        holder = Typer()
        if isinstance(found, Typer):
            holder.add_typer(found, name=name)
        else:
            holder.command(name)(found)
        return get_group(holder).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_places())

    def __len__(self) -> int:
        return len(_places())


class _Later(TyperCommand):
    """A pack's command that is imported when it is called."""

    def __init__(self, name: str, entry: "EntryPoint") -> None:
        self._origin = entry.dist.name if entry.dist else "an unknown distribution"
        super().__init__(name, help=f"Commands of the pack {entry.name} ({self._origin}).")
        self._entry = entry

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self._load().make_context(info_name, args, parent, **extra)

    def _load(self) -> Any:
        from leasehold.cli.output import fail
        from leasehold.errors import LeaseholdError

        try:
            feature = self._entry.load()
            app = feature.load(feature.commands[self.name])
        except Exception as problem:
            fail(
                LeaseholdError(
                    f"the commands of pack {self._entry.name} cannot be loaded: {type(problem).__name__}: {problem}",
                    hint=self._way_out(problem),
                )
            )
        if not isinstance(app, Typer):
            fail(LeaseholdError(f"{feature.commands[self.name]} of {self._origin} is no typer.Typer"))
        return get_command(app)

    def _way_out(self, problem: Exception) -> str:
        if self._entry.extras and isinstance(problem, ModuleNotFoundError):
            return f"pip install '{self._origin}[{','.join(self._entry.extras)}]'"
        return f"repair or uninstall {self._origin}"


@cache
def _of_packs() -> "dict[str, EntryPoint]":
    """The commands of the packs that LEASEHOLD_PACKS lets in. Their packages name them and import nothing.

    A package that cannot be imported has a command of its name, which says why.
    """
    import os
    from importlib.metadata import entry_points

    chosen = os.environ.get("LEASEHOLD_PACKS")
    names = None if chosen is None else {name.strip() for name in chosen.split(",")}
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group="leasehold.packs"):
        if names is None or entry.name in names:
            try:
                commands = entry.load().commands
            except Exception:
                commands = [entry.name]
            found.update(dict.fromkeys(commands, entry))
    return found
