"""`leasehold schedules …`."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leasehold.cli.options import Force, JobOptions, Json, Tenant, job_options, whole_duration
from leasehold.cli.output import command, print_json, print_table, say, shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from leasehold.features.schedules.model import ScheduleInfo, Tick
    from leasehold.features.schedules.store import Schedules

app = typer.Typer(help="Schedules: jobs by a cron line, every so often, or once.", no_args_is_help=True)

Cron = Annotated[str | None, typer.Option(help="A cron line, or @daily and the like.")]
Every = Annotated[
    int | None,
    typer.Option(
        help="Time between two ticks.",
        parser=whole_duration,
        metavar="DURATION",
    ),
]
At = Annotated[str | None, typer.Option(help="The moment of a schedule that ticks once: 2026-12-24T18:00.")]
Zone = Annotated[str | None, typer.Option(help="The IANA time zone of the cron line.", show_default="UTC")]
Payload = Annotated[str | None, typer.Option(help="JSON.")]
Starts = Annotated[str | None, typer.Option("--starts-at", help="No tick before this moment; none for no start.")]
Ends = Annotated[str | None, typer.Option("--ends-at", help="No tick after this moment; none for no end.")]
Jitter = Annotated[
    int | None,
    typer.Option(
        help="Time over which the jobs are spread.",
        parser=whole_duration,
        metavar="DURATION",
    ),
]
Overlap = Annotated[
    str | None, typer.Option(help="While the last job has not ended: skip, queue or cancel_old.", show_default="skip")
]
CatchUp = Annotated[
    str | None, typer.Option(help="Of ticks that were missed, make up for: none, one or all.", show_default="one")
]
CatchUpMax = Annotated[int | None, typer.Option(help="With all, for so many at most.", show_default="100")]
TickAs = Annotated[str | None, typer.Option(help="The member of the payload that gets the tick, or none.")]
#: Takes away what a schedule has: --ends-at none.
_AWAY = "none"


@app.command("list")
@command
async def list_(
    after: Annotated[str, typer.Option(help="Only names after this one: the next page.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """All schedules by name."""
    async with _schedules(tenant) as schedules:
        found = await schedules.list(after=after, limit=limit)
    if json:
        print_json([_shown(info) for info in found])
    else:
        print_table(
            ["schedule", "kind", "when", "next", "last", "state"],
            [(info.name, info.kind, info.words, info.next_at, info.last_at, _state(info)) for info in found],
        )


@app.command()
@command
async def get(name: str, tenant: Tenant = None, json: Json = False) -> None:
    """One schedule with its newest ticks."""
    async with _schedules(tenant) as schedules:
        info = await schedules.get(name)
        ticks = await schedules.ticks(name, limit=10)
    if json:
        print_json(_shown(info) | {"ticks": ticks})
    else:
        _print_schedule(info, ticks)


@app.command()
@command
async def add(
    name: str,
    kind: str,
    cron: Cron = None,
    every: Every = None,
    at: At = None,
    zone: Zone = None,
    payload: Payload = None,
    starts_at: Starts = None,
    ends_at: Ends = None,
    jitter: Jitter = None,
    overlap: Overlap = None,
    catch_up: CatchUp = None,
    catch_up_max: CatchUpMax = None,
    tick_as: TickAs = None,
    option: JobOptions = None,
    force: Force = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Make a schedule; one of the name is a conflict."""
    given = _given(
        cron=cron, every=every, at=at, zone=zone, payload=payload, starts_at=starts_at, ends_at=ends_at, jitter=jitter,
        overlap=overlap, catch_up=catch_up, catch_up_max=catch_up_max, tick_as=tick_as, option=option,
        clock=zone or "UTC",
    )  # fmt: skip
    options = given.pop("options", {})
    async with _schedules(tenant, kind=None if force else kind) as schedules:
        info = await schedules.add(name, kind, given.pop("payload", None), **given, **options)
    _say_when(info, json=json)


@app.command()
@command
async def edit(
    name: str,
    kind: Annotated[str | None, typer.Option(help="The kind of its jobs.")] = None,
    cron: Cron = None,
    every: Every = None,
    at: At = None,
    zone: Annotated[str | None, typer.Option(help="The IANA time zone of the cron line.")] = None,
    payload: Payload = None,
    starts_at: Starts = None,
    ends_at: Ends = None,
    jitter: Jitter = None,
    overlap: Annotated[str | None, typer.Option(help="skip, queue or cancel_old.")] = None,
    catch_up: Annotated[str | None, typer.Option(help="none, one or all.")] = None,
    catch_up_max: Annotated[int | None, typer.Option(help="With all, for so many at most.")] = None,
    tick_as: TickAs = None,
    option: JobOptions = None,
    force: Force = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Change what is given and leave the rest; --cron, --every and --at replace each other."""
    async with _schedules(tenant, kind=None if force else kind) as schedules:
        given = _given(
            cron=cron, every=every, at=at, zone=zone, payload=payload, starts_at=starts_at, ends_at=ends_at,
            jitter=jitter, overlap=overlap, catch_up=catch_up, catch_up_max=catch_up_max, tick_as=tick_as,
            option=option, clock=zone or (await schedules.get(name)).zone,
        )  # fmt: skip
        info = await schedules.edit(name, **given, **({"kind": kind} if kind else {}))
    _say_when(info, json=json)


@app.command()
@command
async def pause(name: str, tenant: Tenant = None, json: Json = False) -> None:
    """Let it not tick until it is resumed."""
    async with _schedules(tenant) as schedules:
        info = await schedules.pause(name)
    print_json(_shown(info)) if json else say(
        f"{name} is paused; `{shown(f'leasehold schedules resume {name}', tenant)}` lets it go on"
    )


@app.command()
@command
async def resume(name: str, tenant: Tenant = None, json: Json = False) -> None:
    """Let a paused schedule go on with its next tick from now."""
    async with _schedules(tenant) as schedules:
        info = await schedules.resume(name)
    _say_when(info, json=json)


@app.command()
@command
async def run(name: str, tenant: Tenant = None, json: Json = False) -> None:
    """Make a job of it now; its ticks stay as they are."""
    async with _schedules(tenant) as schedules:
        job_id = await schedules.run(name)
    if json:
        print_json({"job_id": job_id})
    else:
        print(job_id)
        say(f"see it with: {shown(f'leasehold jobs get {job_id}', tenant)}")


@app.command("next")
@command
async def next_(
    name: str,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 5,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Its next ticks, in its own time zone and in UTC."""
    from leasehold.time_zones import zone_of

    async with _schedules(tenant) as schedules:
        info = await schedules.get(name)
    ticks = info.timing.following(info.next_at, count)
    if json:
        print_json(ticks)
        return
    print_table([info.zone, "UTC"], [(tick.astimezone(zone_of(info.zone)), tick) for tick in ticks])
    say(f"{info.words}{'; it is paused' if info.paused else ''}{'' if ticks else '; it has no tick left'}")


@app.command()
@command
async def remove(name: str, tenant: Tenant = None, json: Json = False) -> None:
    """Remove a schedule; jobs that it made stay. Code that declares it does not bring it back."""
    async with _schedules(tenant) as schedules:
        await schedules.delete(name)
    print_json({"name": name, "removed": True}) if json else say(f"{name} is removed")


def _schedules(tenant: str | None, *, kind: str | None = None) -> "AbstractAsyncContextManager[Schedules]":
    """Those of the tenant, once the kind that is given is known to have a handler."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def opened() -> "AsyncIterator[Schedules]":
        from leasehold.program.client import Client
        from leasehold.settings import Settings

        async with Client.connect(Settings.from_env(tenant=tenant)) as client:
            if kind is not None:
                await client.require_kind(kind)
            yield client.schedules

    return opened()


def _given(*, payload: str | None, option: list[str] | None, clock: str, **rest: Any) -> dict[str, Any]:
    """The options of the command line that were given, as values; a time without an offset is by a zone's clock."""
    given = {word: value for word, value in rest.items() if value is not None}
    for word in {"at", "starts_at", "ends_at"} & given.keys():
        given[word] = None if given[word] == _AWAY else _moment(word, given[word], clock)
    if given.get("tick_as") == _AWAY:
        given["tick_as"] = None
    if payload is not None:
        given["payload"] = _value("payload", payload)
    if option is not None:
        given["options"] = job_options(option)
    return given


def _moment(word: str, text: str, clock: str) -> datetime:
    from leasehold.errors import BadInput
    from leasehold.time_zones import zone_of

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--{word.replace('_', '-')} {text!r} is not a moment", hint="2026-12-24T18:00+01:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone_of(clock))


def _value(what: str, text: str) -> Any:
    import json

    from leasehold.errors import BadInput

    try:
        return json.loads(text)
    except ValueError as problem:
        raise BadInput(f"the {what} is not JSON: {problem}") from None


def _state(info: "ScheduleInfo") -> str:
    if info.paused:
        return "paused"
    return "ended" if info.next_at is None else "edited" if info.edited else "active"


def _shown(info: "ScheduleInfo") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(info)


def _say_when(info: "ScheduleInfo", *, json: bool) -> None:
    if json:
        print_json(_shown(info))
        return
    comes = f"next at {info.next_at:%Y-%m-%d %H:%M:%S} UTC" if info.next_at else "it has no tick left"
    say(f"{info.name}: {info.words}; {'it is paused' if info.paused else comes}")


def _print_schedule(info: "ScheduleInfo", ticks: "Sequence[Tick]") -> None:
    from json import dumps

    shown: Mapping[str, Any] = _shown(info) | {"state": _state(info)}
    cells = {name: dumps(value) if isinstance(value, dict) else value for name, value in shown.items()}
    cells = cells | {"next_runs": ", ".join(f"{tick:%Y-%m-%d %H:%M:%S}" for tick in shown["next_runs"])}
    print_table(["field", "value"], [(name, value) for name, value in cells.items() if value is not None])
    if ticks:
        print()
        print_table(["tick", "outcome", "job", "detail"], [(t.tick_at, t.outcome, t.job_id, t.detail) for t in ticks])
