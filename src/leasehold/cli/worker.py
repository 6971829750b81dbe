"""`leasehold worker`."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.event_loop import loop_factory, on_stop
from leasehold.cli.options import App, Slots
from leasehold.cli.output import fail, warn_of_unknown_variables

if TYPE_CHECKING:
    from leasehold.settings import Settings

Queues = Annotated[
    str | None,
    typer.Option(
        "--queues",
        envvar="LEASEHOLD_QUEUES",
        help="Queues to take from, some with a limit of their own: money=2,default.",
        show_default="those of the handlers",
    ),
]
Processes = Annotated[int, typer.Option("--processes", min=1, help="Processes, kept alive by a parent.")]
MaxJobs = Annotated[
    int | None,
    typer.Option("--max-jobs", envvar="LEASEHOLD_MAX_JOBS", min=1, help="Replace a process after so many jobs."),
]
MaxMemory = Annotated[
    int | None,
    typer.Option(
        "--max-memory", envvar="LEASEHOLD_MAX_MEMORY_MB", min=1, help="Replace a process that uses so many megabytes."
    ),
]
Name = Annotated[str | None, typer.Option("--name", help="The worker's name.", show_default="host-pid")]
JsonLogs = Annotated[bool, typer.Option("--json-logs", help="Log lines as JSON.")]
Reload = Annotated[bool, typer.Option("--reload", help="Start anew when a Python file of this folder changes.")]
Lifeline = Annotated[int | None, typer.Option("--lifeline", hidden=True, help="A pipe that ends with the parent.")]


def worker(
    app: App = None,
    slots: Slots = None,
    queues: Queues = None,
    processes: Processes = 1,
    max_jobs: MaxJobs = None,
    max_memory: MaxMemory = None,
    name: Name = None,
    json_logs: JsonLogs = False,
    reload: Reload = False,
    lifeline: Lifeline = None,
) -> None:
    """Run attempts until SIGTERM or Ctrl-C: then finish what runs, and give the rest back. A second signal is final."""
    import asyncio

    from leasehold import log, tracing
    from leasehold.errors import LeaseholdError
    from leasehold.settings import Settings

    if lifeline is None:  # a child's parent has said it
        warn_of_unknown_variables()
    try:
        settings = Settings.from_env(app=app, slots=slots, queues=queues, max_jobs=max_jobs, max_memory_mb=max_memory)
        log.configure(json_lines=json_logs, level=settings.log_level)
        many = processes > 1 or reload or settings.max_jobs or settings.max_memory_mb
        is_parent = lifeline is None and bool(many)
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            if is_parent:
                runner.run(_supervise(settings, processes=processes, name=name, json_logs=json_logs, reload=reload))
            else:
                if settings.otel:
                    tracing.configure("leasehold-worker")
                runner.run(_work(settings, name=name, lifeline=lifeline))
    except LeaseholdError as problem:
        fail(problem)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _work(settings: "Settings", *, name: str | None, lifeline: int | None) -> None:
    import asyncio
    import gc
    import os

    from leasehold.plugins import discovery
    from leasehold.program.app import load
    from leasehold.worker import Worker

    own = load(settings.app) if settings.app else None
    handlers = discovery.assembled(discovery.discover(settings.packs), own, settings)
    # A batch of attempts makes some thousand objects and drops them: no reason to search for cycles each time, least of
    # all among the modules, which stay.
    gc.freeze()
    gc.set_threshold(10_000)
    async with Worker.database(settings) as db:
        running = Worker(db, handlers, settings, name=name)
        on_stop(running.stop)
        if lifeline is not None:
            loop = asyncio.get_running_loop()

            def parent_is_gone() -> None:
                loop.remove_reader(lifeline)
                running.stop()

            loop.add_reader(lifeline, parent_is_gone)  # nothing is ever sent: what can be read is the end
        await running.run()
    if running.left_behind:
        # A handler that swallows its cancellation: the event loop would wait for it at its end, for ever.
        os._exit(0)


async def _supervise(settings: "Settings", *, processes: int, name: str | None, json_logs: bool, reload: bool) -> None:
    from pathlib import Path

    from leasehold.worker.supervisor import Supervisor

    arguments = [settings.app] if settings.app else []
    arguments += ["--slots", str(settings.slots), *(["--json-logs"] if json_logs else [])]
    for option, value in {
        "--queues": settings.queues,
        "--max-jobs": settings.max_jobs,
        "--max-memory": settings.max_memory_mb,
    }.items():
        arguments += [option, str(value)] if value is not None else []
    folder = Path.cwd() if reload else None
    port = settings.worker_port
    supervisor = Supervisor(arguments, processes=processes, name=name, reload=folder, port=port)
    on_stop(supervisor.stop)
    await supervisor.run()
