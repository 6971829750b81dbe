"""The menu: our commands, and those that packs bring."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from typer import Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "leasehold.commands"
#: Where each of ours is: a function in a module beside this one, or a Typer with commands of its own.
_OURS = {
    "up": "up:up",
    "down": "up:down",
    "demo": "demo:demo",
    "serve": "serve:serve",
    "worker": "worker:worker",
    "run": "run:run",
    "workers": "workers:workers",
    "fetch": "fetch:fetch",
    "redact": "redact:redact",
    "doctor": "doctor:doctor",
    "jobs": "jobs:app",
    "queues": "queues:app",
    "limits": "limits:app",
    "schedules": "schedules:app",
    "flows": "flows:app",
    "approvals": "approvals:app",
    "signals": "signals:app",
    "gates": "gates:app",
    "tenants": "tenants:app",
    "keys": "keys:app",
    "people": "people:app",
    "secrets": "secrets:app",
    "webhooks": "webhooks:app",
    "reports": "reports:app",
    "packs": "packs:app",
    "db": "db:app",
    "config": "config:app",
    "bench": "bench:app",
}


class Menu(TyperGroup):
    """Ours first. Packs' commands are found by name alone, so that `--help` imports none of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = _Ours()

    def list_commands(self, ctx: Any) -> list[str]:
        return [*_OURS, *sorted(_of_packs().keys() - _OURS.keys())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _OURS:
            return self.commands[cmd_name]
        entry = _of_packs().get(cmd_name)
        return _Later(entry) if entry else None


class _Ours(Mapping[str, Any]):
    """Our commands by name. Each is imported when it is asked for: a worker that starts has no use for the others."""

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = _OURS[name].partition(":")
        found = getattr(import_module(f"leasehold.cli.{module}"), attribute)
        holder = Typer()
        if isinstance(found, Typer):
            holder.add_typer(found, name=name)
        else:
            holder.command(name)(found)
        return get_group(holder).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_OURS)

    def __len__(self) -> int:
        return len(_OURS)


class _Later(TyperCommand):
    """A pack's command that is imported when it is called."""

    def __init__(self, entry: "EntryPoint") -> None:
        origin = entry.dist.name if entry.dist else "an unknown distribution"
        super().__init__(entry.name, help=f"Commands of the pack {entry.name} ({origin}).")
        self._entry = entry
        self._origin = origin

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self._load().make_context(info_name, args, parent, **extra)

    def _load(self) -> Any:
        from leasehold.cli.output import fail
        from leasehold.errors import LeaseholdError

        try:
            app = self._entry.load()
        except Exception as problem:
            fail(
                LeaseholdError(
                    f"the commands of pack {self.name} cannot be loaded: {type(problem).__name__}: {problem}",
                    hint=self._way_out(problem),
                )
            )
        if not isinstance(app, Typer):
            fail(LeaseholdError(f"{self._entry.value} of {self._origin} is no typer.Typer"))
        return get_command(app)

    def _way_out(self, problem: Exception) -> str:
        if self._entry.extras and isinstance(problem, ModuleNotFoundError):
            return f"pip install '{self._origin}[{','.join(self._entry.extras)}]'"
        return f"repair or uninstall {self._origin}"


def _of_packs() -> "dict[str, EntryPoint]":
    """Those of the packs that LEASEHOLD_PACKS lets in."""
    import os
    from importlib.metadata import entry_points

    chosen = os.environ.get("LEASEHOLD_PACKS")
    names = None if chosen is None else {name.strip() for name in chosen.split(",")}
    return {entry.name: entry for entry in entry_points(group=GROUP) if names is None or entry.name in names}
