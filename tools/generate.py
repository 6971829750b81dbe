"""Write what follows from the table of options, and twins: `python -m tools.generate`.

With --check it compares.

The table is src/leasehold/engine/sql/enqueue/options.csv; docs/design/options.md says what is
generated from it, and why. Everything else reads the table as it runs.
"""

import difflib
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from leasehold.job_options import OPTIONS, Option
from tools.twins import with_twins

ROOT = Path(__file__).parents[1]
_ENQUEUE = ROOT / "src" / "leasehold" / "engine" / "sql" / "enqueue"
_MADE = "from options.csv by `python -m tools.generate`"
_WIDTH = 100


def main(arguments: list[str]) -> int:
    differ = False
    for path, text in (generated() | twins()).items():
        old = path.read_text() if path.exists() else ""
        if "--check" not in arguments:
            path.write_text(text)
        elif old != text:
            differ = True
            name = str(path.relative_to(ROOT))
            lines = old.splitlines(True), text.splitlines(True)
            sys.stderr.writelines(difflib.unified_diff(*lines, name, "as options.csv says"))
    if differ:
        print("run `python -m tools.generate`", file=sys.stderr)
    return int(differ)


def generated() -> dict[Path, str]:
    """Every file that is made, or has a part that is made, as it should be."""
    types = ROOT / "src" / "leasehold" / "http" / "types.py"
    page = ROOT / "docs" / "reference" / "sql.md"
    return {
        _ENQUEUE / "check_options.sql": _check_options(),
        _ENQUEUE / "known_options.sql": _known_options(),
        _ENQUEUE / "is_plain.sql": _is_plain(),
        _ENQUEUE / "default_options.sql": _default_options(),
        ROOT / "src" / "leasehold" / "typed_options.py": _formatted(_typed_dicts()),
        types: _formatted(_part(types, "# <options>", "# </options>", _request_bodies())),
        page: _part(page, "<!-- options -->", "<!-- /options -->", _table()),
    }


def twins() -> dict[Path, str]:
    """The module whose methods for sync handlers are made from the async ones."""
    package = ROOT / "src" / "leasehold"
    context = package / "program" / "context.py"
    transaction = package / "program" / "transaction.py"
    sources = [context, transaction, package / "features" / "blobs" / "store.py"]
    return {context: _formatted(with_twins(context, sources))}


def _part(path: Path, start: str, end: str, text: str) -> str:
    before, _, rest = path.read_text().partition(f"{start}\n")
    _, found, after = rest.partition(end)
    assert found, f"{path} has no marks {start} and {end}"
    return f"{before}{start}\n{text}{end}{after}"


def _formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "made.py", "-"]
    made = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return made.stdout.decode()


# -- SQL -------------------------------------------------------------------------------------------


def _known_options() -> str:
    places: dict[str, Callable[[Option], bool]] = {
        "job": lambda _: True,
        "kind": lambda option: option.kind,
        "step": lambda option: option.step,
        "schedule": lambda option: option.schedule,
    }
    lists = {place: _names(filter(has, OPTIONS), 6) for place, has in places.items()}
    whens = [f"    when '{place}' then array[\n{names}\n    ]" for place, names in lists.items()]
    cases = "\n".join(whens)
    return f"""\
-- The options that one may give for a job, a kind (by its handler), a step or a schedule.
-- Made {_MADE}.
-- internal
create or replace function leasehold.known_options(p_of text) returns text[]
language sql immutable as $$
  select case p_of
{cases}
  end
$$;
"""


def _is_plain() -> str:
    return f"""\
-- Whether the plain branch of an enqueue can carry all of these options.
-- Made {_MADE}.
-- internal
-- settings: none
create or replace function leasehold.is_plain(p_options jsonb) returns boolean
language sql immutable as $$
  select p_options - array[
{_names((option for option in OPTIONS if option.short), 4)}
  ] = '{{}}'
$$;
"""


def _default_options() -> str:
    given = [f'    "{option.name}": {_json(option)}' for option in OPTIONS if option.default]
    values = ",\n".join(given)
    return f"""\
-- What holds where neither the caller nor the kind gives an option.
-- Made {_MADE}.
-- internal
-- settings: none
create or replace function leasehold.default_options() returns jsonb
language sql immutable as $$
  select '{{
{values}
  }}'::jsonb
$$;
"""


def _json(option: Option) -> str:
    return option.default if option.is_number or option.type == "boolean" else f'"{option.default}"'


def _names(options: Iterable[Option], indent: int) -> str:
    lines = [""]
    for option in options:
        word = f"'{option.name}'"
        if lines[-1] and indent + len(lines[-1]) + len(word) + 3 > _WIDTH:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{word}"
    return ",\n".join(" " * indent + line for line in lines)


def _check_options() -> str:
    checks = "".join(_check(option) for option in OPTIONS)
    return f"""\
-- Refuse options that are unknown or out of range, with a sentence that says which.
-- Made {_MADE}.
-- internal
create or replace function leasehold.check_options(p_options jsonb) returns void
language plpgsql stable as $$
declare
  c_known constant text[] := leasehold.known_options('job');
begin
  if jsonb_typeof(p_options) <> 'object' then
    raise exception 'options are not a JSON object' using errcode = 'LH400';
  end if;
  if p_options - c_known <> '{{}}' then
    raise exception 'there is no option %',
      (select quote_literal(o) from jsonb_object_keys(p_options - c_known) o limit 1)
      using errcode = 'LH400', hint = 'known options: ' || array_to_string(c_known, ', ');
  end if;
{checks}end
$$;
"""


def _check(option: Option) -> str:
    """The statement that refuses a value; nothing where another function looks the value up."""
    name, low, high = option.name, option.min, option.max
    text, value = f"p_options ->> '{name}'", f"p_options -> '{name}'"
    given = f"p_options ? '{name}'"
    if option.choices:
        allowed = ", ".join(f"'{choice}'" for choice in option.choices)
        return _refuse(
            f"{given} and coalesce({text}, '') not in ({allowed})",
            f"{name} is {_or(option.choices)}",
        )
    match option.type:
        case "queue":
            return ""
        case "whole":
            return _no_number(name) + _refuse(
                f"({text})::numeric not between {low} and {high} or ({text})::numeric % 1 <> 0",
                f"{name} % is not a whole number from {low} to {high}",
                text,
            )
        case "seconds":
            return _no_number(name) + _refuse(
                f"({text})::numeric not between {low} and {high}",
                f"{name} % is not between {_seconds(low)} and {_seconds(high)}",
                text,
            )
        case "text":
            length = f"length({text}) not between {low} and {high}"
            return _refuse(
                f"{given} and (jsonb_typeof({value}) <> 'string' or {length})",
                f"{name} is a text of {low} to {high} characters",
            )
        case "trace":
            return _refuse(
                f"jsonb_typeof({value}) not in ('string', 'null') or length({text}) > {high}",
                f"{name} is a text of at most {high} characters",
            )
        case "texts":
            return _refuse(
                f"{given} and not (\n"
                f"    jsonb_typeof({value}) = 'array' and jsonb_array_length({value}) <= {low}\n"
                f"    and not exists (\n"
                f"      select from jsonb_array_elements({value}) t\n"
                f"      where jsonb_typeof(t) <> 'string'\n"
                f"        or length(t #>> '{{}}') not between 1 and {high}\n    )\n  )",
                f"{name} are a list of at most {low} texts of 1 to {high} characters",
            )
        case "object":
            length = f"octet_length({text}) > {high}"
            return _refuse(
                f"{given} and (jsonb_typeof({value}) <> 'object' or {length})",
                f"{name} is a JSON object of at most {high} bytes",
            )
        case "boolean":
            wrong = f"{given} and jsonb_typeof({value}) <> 'boolean'"
            return _refuse(wrong, f"{name} is true or false")
        case "moment":
            latest = f"leasehold.now() + interval '{high} s'"
            return _refuse(
                f"({text})::timestamptz not between '1970-01-01' and {latest}",
                f"{name} % is more than {_seconds(high)} away",
                text,
            )
        case "future":
            passed = f"({text})::timestamptz <= leasehold.now()"
            return _refuse(passed, f"{name} % has passed", text)
        case "id":
            return _refuse(f"({text})::uuid is null and {given}", f"{name} is not a job id")
        case "gate":
            check = f"perform leasehold.check_gate_template({value});"
            return f"  if {given} then\n    {check}\n  end if;\n"
    raise AssertionError(f"{name}: there is no type {option.type}")


def _no_number(name: str) -> str:
    wrong = f"jsonb_typeof(p_options -> '{name}') not in ('number', 'null')"
    return _refuse(wrong, f"{name} is a number, not %", f"p_options -> '{name}'")


def _refuse(condition: str, message: str, *values: str) -> str:
    raised = ", ".join([f"'{message}'", *values])
    statement = f"raise exception {raised} using errcode = 'LH400';"
    return f"  if {condition} then\n    {statement}\n  end if;\n"


def _or(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _seconds(text: str) -> str:
    words = {
        "0.001": "0.001 seconds", "1": "one second", "86400": "one day", "604800": "one week",
        "2592000": "thirty days", "31557600": "one year", "315576000": "ten years",
    }  # fmt: skip
    return words.get(text, f"{text} seconds")


# -- Python ----------------------------------------------------------------------------------------

_IN_PYTHON = {
    "queue": "str", "text": "str", "gate": "str", "trace": "str", "id": "UUID | str",
    "whole": "int", "seconds": "Duration", "boolean": "bool", "texts": "Sequence[str]",
    "object": "Mapping[str, Any]",
    "moment": "datetime", "future": "datetime",
}  # fmt: skip
_PREFIX = '"""The options of jobs, for type checkers. Made ' + _MADE + '."""'


def _typed_dicts() -> str:
    common = [option for option in OPTIONS if option.schedule]
    of_steps = [option for option in OPTIONS if option.step and not option.schedule]
    of_jobs = [option for option in OPTIONS if not option.step]
    of_kinds = [option for option in OPTIONS if option.kind and not option.schedule]
    return f"""\
{_PREFIX}

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from leasehold.durations import Duration


class _CommonOptions(TypedDict, total=False):
{_fields(common)}

class StepOptions(_CommonOptions, total=False):
    \"\"\"What the job of a step may be given.\"\"\"

{_fields(of_steps)}

class JobOptions(StepOptions, total=False):
    \"\"\"What an enqueue may be given.\"\"\"

{_fields(of_jobs)}

class HandlerOptions(_CommonOptions, total=False):
    \"\"\"What a handler says of the jobs of its kind, and how a worker runs them.\"\"\"

{_fields(of_kinds)}
    retry: tuple[Duration, Duration]
    \"\"\"retry_base_s and retry_cap_s: the first delay and the longest one.\"\"\"
    isolate: bool
    \"\"\"Each attempt runs in a process of its own.\"\"\"
    memory_mb: int | None
    \"\"\"Memory that the process of an attempt may take; with isolate.\"\"\"
    soft_timeout: Duration | None
    \"\"\"Seconds after which ctx.timed_out is true. Default half of the timeout.\"\"\"


class ScheduleOptions(_CommonOptions, total=False):
    \"\"\"When a schedule fires, and what its jobs are given.\"\"\"

    cron: str | None
    \"\"\"Cron line; one of cron, every and at.\"\"\"
    every: Duration | None
    \"\"\"Seconds between two ticks.\"\"\"
    at: datetime | None
    \"\"\"The only tick.\"\"\"
    zone: str
    \"\"\"Time zone of the cron line. Default UTC.\"\"\"
    starts_at: datetime | None
    \"\"\"No tick before this time.\"\"\"
    ends_at: datetime | None
    \"\"\"No tick after this time.\"\"\"
    jitter: Duration
    \"\"\"Seconds by which a tick comes later at most. Default 0.\"\"\"
    overlap: Literal["skip", "queue", "cancel_old"] | None
    \"\"\"What a tick does while the job of the last one has not ended.\"\"\"
    catch_up: Literal["none", "one", "all"]
    \"\"\"Which ticks are made up for after a stop. Default one.\"\"\"
    catch_up_max: int
    \"\"\"How many of the newest ticks catch_up=all makes up for. Default 100.\"\"\"
    tick_as: str | None
    \"\"\"Member of the payload that gets the tick.\"\"\"
    tenant: str | UUID | None
    \"\"\"Name or id of the tenant. Default that of LEASEHOLD_TENANT.\"\"\"
"""


def _fields(options: Iterable[Option]) -> str:
    lines = ""
    for option in options:
        lines += f"    {option.people_name or option.name}: {_python(option)} | None\n"
        lines += f'    """{_sentence(option)}"""\n'
    return lines


def _python(option: Option) -> str:
    if option.choices:
        return f"Literal{option.choices}"
    return _IN_PYTHON[option.type]


def _sentence(option: Option) -> str:
    return option.help + (f" Default {option.default}." if option.default else "")


def _request_bodies() -> str:
    common = [option for option in OPTIONS if option.schedule]
    of_steps = [option for option in OPTIONS if option.step and not option.schedule]
    of_jobs = [option for option in OPTIONS if not option.step]
    return f"""\
# Made {_MADE}.
# fmt: off


class JobOptions(Ask):
    \"\"\"Options of the jobs of a schedule, else those of the kind, else the defaults.\"\"\"

{_members(common)}

class StepOptions(JobOptions):
    \"\"\"Options of the job of a step. Its delay begins when its parents have ended.\"\"\"

{_members(of_steps)}

class EnqueueOptions(StepOptions):
    \"\"\"Options of a job.\"\"\"

{_members(of_jobs)}
# fmt: on
"""


def _members(options: Iterable[Option]) -> str:
    return "".join(f"    {option.name}: {_annotation(option)}\n" for option in options)


def _annotation(option: Option) -> str:
    bounds: dict[str, str] = {}
    if option.choices:
        type_ = _python(option)
    else:
        match option.type:
            case "queue":
                type_ = "Name"
            case "whole":
                bounded = f"Field(strict=True, ge={option.min}, le={option.max})"
                type_ = f"Annotated[int, {bounded}, BeforeValidator(whole)]"
            case "seconds":
                type_ = f"Annotated[float, Seconds({option.min}, {option.max})]"
            case "texts":
                type_ = f"list[Annotated[str, Field(min_length=1, max_length={option.max})]]"
                bounds = {"max_length": option.min}
            case "text":
                type_, bounds = "str", {"pattern": 'r"^[^\\x00]+$"', "max_length": option.max}
            case "gate":
                type_ = "GateTemplate"
            case "boolean":
                type_ = "bool"
            case "object":
                type_ = "dict[str, Any]"
            case "moment" | "future":
                type_ = "Moment"
            case "id":
                type_ = "Id"
            case "trace":
                type_, bounds = "str", {"pattern": 'r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"'}
            case _:
                raise AssertionError(f"{option.name}: there is no type {option.type}")
    given = ", ".join(["None", *(f"{name}={value}" for name, value in bounds.items())])
    described = f'description="{_sentence(option)}"'
    line = f"{type_} | None = Field({given}, {described})"
    if len(option.name) + len(line) + 6 <= _WIDTH:
        return line
    return f"{type_} | None = Field({given},\n        {described})"


# -- the page --------------------------------------------------------------------------------------


def _table() -> str:
    lines = [
        "| option | in Python | value | default | also of | meaning |",
        "|---|---|---|---|---|---|",
    ]
    for option in OPTIONS:
        cells = [f"`{option.name}`", _python_name(option), _allowed(option), option.default or "–"]
        lines.append(f"| {' | '.join([*cells, _elsewhere(option), option.help])} |")
    return "\n" + "\n".join(lines) + "\n\n"


def _python_name(option: Option) -> str:
    return f"`{option.people_name}`" if option.people_name else "the same"


def _elsewhere(option: Option) -> str:
    places = {"kinds": option.kind, "steps": option.step, "schedules": option.schedule}
    return ", ".join(place for place, may in places.items() if may) or "–"


def _allowed(option: Option) -> str:
    low, high = option.min, option.max
    if option.choices:
        return _or([f"`{choice}`" for choice in option.choices])
    match option.type:
        case "queue":
            return "name of a queue"
        case "whole":
            return f"whole number from {low} to {high}"
        case "seconds":
            return f"duration from {low} to {high} seconds"
        case "texts":
            return f"at most {low} texts of 1 to {high} characters"
        case "text":
            return f"text of {low} to {high} characters"
        case "gate":
            template = "[template](../howto/gates.md#a-gate-made-of-the-payload)"
            return f"gate or {template} of {low} to {high} characters"
        case "boolean":
            return "true or false"
        case "object":
            return f"JSON object of at most {high} bytes"
        case "moment":
            return "time"
        case "future":
            return "time in the future"
        case "id":
            return "job id"
        case "trace":
            return f"text of at most {high} characters"
    raise AssertionError(f"{option.name}: there is no type {option.type}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
