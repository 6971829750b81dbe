"""The menu: our commands, and those that packs bring."""

from importlib.metadata import EntryPoint
from typing import Any

from typer.core import TyperCommand, TyperGroup

GROUP = "leasehold.commands"


class Menu(TyperGroup):
    """Ours first. Packs' commands are found by name alone, so that `--help` imports none of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        ours = super().list_commands(ctx)
        return [*ours, *sorted(_of_packs().keys() - set(ours))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        ours = super().get_command(ctx, cmd_name)
        if ours is not None:
            return ours
        entry = _of_packs().get(cmd_name)
        return _Later(entry) if entry else None


class _Later(TyperCommand):
    """A pack's command that is imported when it is called."""

    def __init__(self, entry: EntryPoint) -> None:
        origin = entry.dist.name if entry.dist else "an unknown distribution"
        super().__init__(entry.name, help=f"Commands of the pack {entry.name} ({origin}).")
        self._entry = entry
        self._origin = origin

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self._load().make_context(info_name, args, parent, **extra)

    def _load(self) -> Any:
        from typer import Typer
        from typer.main import get_command

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


def _of_packs() -> dict[str, EntryPoint]:
    """Those of the packs that LEASEHOLD_PACKS lets in."""
    import os
    from importlib.metadata import entry_points

    chosen = os.environ.get("LEASEHOLD_PACKS")
    names = None if chosen is None else {name.strip() for name in chosen.split(",")}
    return {entry.name: entry for entry in entry_points(group=GROUP) if names is None or entry.name in names}
