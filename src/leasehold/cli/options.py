"""Options that several commands share."""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import typer

from leasehold.job_options import OPTIONS, Option

_Function = TypeVar("_Function", bound=Callable[..., Any])

Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        envvar="LEASEHOLD_TENANT",
        help="The tenant's name or id.",
        show_default="default, where there is no other",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
App = Annotated[str | None, typer.Argument(envvar="LEASEHOLD_APP", metavar="[MODULE:APP]", help="Your Leasehold app.")]
Slots = Annotated[
    int | None,
    typer.Option("--slots", min=1, help="Attempts to run at once.", show_default="LEASEHOLD_SLOTS, or 300"),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Force = Annotated[bool, typer.Option("--force", help="Take a kind, too, that no worker is known to handle.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many.")]
JobOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="An option of the job: tags='[\"vip\"]', timeout_s=60, …; again for more."),
]


def job_options(texts: Iterable[str]) -> dict[str, Any]:
    """``queue=reports`` and the like; a value is JSON, or else a text as it stands."""
    import json

    from leasehold.errors import BadInput

    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--option {text!r} is not name=value", hint="--option queue=reports")
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return given


def with_job_options(function: _Function) -> _Function:
    """Give a command one parameter for each option of a job; the function takes them as ``**options``."""
    signature = inspect.signature(function)
    given = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    added = [
        inspect.Parameter(_python_name(one), inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(one))
        for one in OPTIONS
    ]
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in given[2:]]
    function.__signature__ = signature.replace(parameters=[*given[:2], *added, *named])  # type: ignore[attr-defined]
    function.__annotations__ |= {one.name: one.annotation for one in added}
    return function


def options_of_job(options: dict[str, Any]) -> dict[str, Any]:
    """The options that ``with_job_options`` found, without those that were left out."""
    import json

    from leasehold.errors import BadInput

    found: dict[str, Any] = {}
    for option in OPTIONS:
        value = options[_python_name(option)]
        if value is None:
            continue
        if option.type in _JSON:
            try:
                value = json.loads(value)
            except ValueError:
                raise BadInput(f"--{option.name} {value!r} is not JSON", hint=_JSON[option.type]) from None
        found[option.name] = value
    return found


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_TYPES: dict[str, type] = {"whole": int, "seconds": float, "boolean": bool}


def duration(text: str | float) -> float:
    """Seconds of a value such as 90, 1.5 or 10m; of a default, too."""
    from leasehold.durations import HINT, seconds_of
    from leasehold.errors import BadInput

    try:
        return seconds_of(float(text) if _NUMBER.fullmatch(str(text)) else text, "value")
    except BadInput:
        raise typer.BadParameter(f"{text!r} is not a duration: {HINT}") from None


def whole_duration(text: str | float) -> int:
    """The same in whole seconds."""
    seconds = duration(text)
    if seconds % 1:
        raise typer.BadParameter(f"{text!r} is not a whole number of seconds")
    return int(seconds)


#: Options whose value is written as JSON, with an example.
_JSON = {"texts": """--tags '["vip"]'""", "object": """--meta '{"order": 17}'"""}


def _python_name(option: Option) -> str:
    return option.people_name or option.name


def _annotation(option: Option) -> Any:
    flag = f"--{_python_name(option).replace('_', '-')}"
    help_ = f"{option.help} As JSON." if option.type in _JSON else option.help
    if option.type == "boolean":
        return Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", help=help_)]
    shown: Any = option.default or False
    if option.type == "seconds":
        return Annotated[
            float | None,
            typer.Option(flag, help=help_, show_default=shown, parser=duration, metavar="DURATION"),
        ]
    return Annotated[_TYPES.get(option.type, str) | None, typer.Option(flag, help=help_, show_default=shown)]
