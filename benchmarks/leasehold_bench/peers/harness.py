"""The peer harness: a folder with ``run.py``, ``setup.sh`` and ``services.sh``, kept elsewhere and never edited.

It installs each system into an environment of its own, runs them in turn within each repetition, and writes JSON:
``{"settings": …, "results": {measure: {system: [value, …]}}}``.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leasehold.errors import LeaseholdError, NotFound, Unreachable
from leasehold_bench.report import US

#: Of a checkout; the adapter is no part of the installed package.
_CHECKOUT = Path(__file__).parents[3]
ADAPTER = _CHECKOUT / "benchmarks" / "sys_leasehold.py"
#: The environment that the runner itself needs.
_RUNNER = "raw"
#: Where services.sh puts PostgreSQL.
_POSTGRES = "postgresql://postgres@127.0.0.1:55432/"
_STOP_SECONDS = 30.0
_SYSTEMS = "import json, run; print(json.dumps({name: system[0] for name, system in run.SYSTEMS.items()}))"
#: How run.py begins a line of progress, or its table.
_NEXT = re.compile(r"\d\d:\d\d:\d\d |\| ")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """Where it is, where it keeps what it installs, and which PostgreSQL it is given (None: its own)."""

    folder: Path
    root: Path
    postgres: str | None
    say: Say

    async def environments(self) -> dict[str, str]:
        """The systems that it knows, each with the environment that it runs in."""
        said = await self._output([sys.executable, "-c", _SYSTEMS])
        found: dict[str, str] = json.loads(said)
        return found

    async def install(self, environments: Iterable[str]) -> None:
        missing = [name for name in sorted({*environments, _RUNNER}) if not self._environment(name).exists()]
        if not missing:
            return
        self.say(f"installing {', '.join(missing)} into {self.root}")
        try:
            await self._output(["bash", "setup.sh", *missing])
        except LeaseholdError:
            for name in missing:  # half of it would look like all of it the next time
                shutil.rmtree(self._environment(name), ignore_errors=True)
            raise

    @asynccontextmanager
    async def services(self) -> AsyncIterator[None]:
        """PostgreSQL and what else the peers need: those that are there, or the harness's own for the time being."""
        if await _answers(self.postgres or _POSTGRES):
            yield
            return
        if self.postgres is not None:
            raise Unreachable(
                f"nothing answers at BENCH_PG={self.postgres}",
                hint="unset it, and the harness starts services of its own",
            )
        self.say("starting the harness's services")
        said, problem = await self._said(["bash", "services.sh"])
        started = dict(line.split() for line in said.splitlines() if len(line.split()) == 2)
        try:
            if not await _answers(_POSTGRES):
                raise Unreachable(f"the harness's services do not start: {problem}", hint=f"see {self.root}/services")
            yield
        finally:
            for name, pid in started.items():
                self.say(f"stopping {name}")
                # PostgreSQL takes SIGTERM for a request to wait until everybody has left.
                if not await _stopped(int(pid), signal.SIGINT if name == "postgres" else signal.SIGTERM):
                    self.say(f"{name} (pid {pid}) does not stop")

    async def run(self, systems: Sequence[str], scenarios: Sequence[str], *, repetitions: int) -> dict[str, Any]:
        """What the harness writes at its end, and the sentences in which it says what failed."""
        out = self.root / f"leasehold-{os.getpid()}.json"
        command = [str(self._environment(_RUNNER) / "bin" / "python"), "run.py", "--systems", *systems]
        command += ["--scenarios", *scenarios, "--reps", str(repetitions), "--out", str(out)]
        command += ["--extra", f"{US}={sys.executable}:{ADAPTER}"]
        lines = []
        try:
            async with self._process(command, stderr=None) as process:
                assert process.stdout is not None
                async for line in process.stdout:
                    lines.append(line.decode(errors="replace").rstrip())
                    self.say(lines[-1])
                if await process.wait():
                    raise LeaseholdError(f"the harness ended with {process.returncode}", hint="its words are above")
            document: dict[str, Any] = json.loads(out.read_text())
        finally:
            out.unlink(missing_ok=True)
        return document | {"failed": failures(lines) + await self._check()}

    async def _check(self) -> list[str]:
        """The last run has no next one that would look at what it left."""
        try:
            await self._output([sys.executable, str(ADAPTER), "check"])
        except LeaseholdError as problem:
            return [str(problem)]
        return []

    def _environment(self, name: str) -> Path:
        return self.root / "venvs" / name

    async def _output(self, command: Sequence[str]) -> str:
        async with self._process(command) as process:
            out, err = await process.communicate()
        if process.returncode:
            raise LeaseholdError(f"{' '.join(command)} failed: {err.decode(errors='replace').strip()[-600:]}")
        return out.decode()

    async def _said(self, command: Sequence[str]) -> tuple[str, str]:
        """For a command that leaves processes behind: they hold its streams, so these are files."""
        self.root.mkdir(parents=True, exist_ok=True)
        out, err = (self.root / f"services.{stream}" for stream in ("out", "err"))
        with out.open("wb") as out_file, err.open("wb") as err_file:
            async with self._process(command, stdout=out_file, stderr=err_file) as process:
                await process.wait()
        return out.read_text(), err.read_text().strip()[-600:]

    @asynccontextmanager
    async def _process(
        self, command: Sequence[str], *, stdout: Any = asyncio.subprocess.PIPE, stderr: Any = asyncio.subprocess.PIPE
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """A process that is gone at the end. It is interrupted, not killed: it has workers of its own to stop."""
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self._variables(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                with suppress(TimeoutError):
                    async with asyncio.timeout(_STOP_SECONDS):
                        await process.wait()
                with suppress(ProcessLookupError):
                    process.kill()

    def _variables(self) -> dict[str, str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith("LEASEHOLD_")}
        return mine | {
            "BENCH_ROOT": str(self.root),
            "BENCH_PG": self.postgres or _POSTGRES,
            "BENCH_PYTHON": sys.executable,
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def find(folder: Path | None, *, root: Path, postgres: str | None, say: Say) -> Harness:
    """The folder that is named, else the one beside the checkout."""
    folder = (folder or _CHECKOUT.parent / "shared" / "bench").resolve()
    if not (folder / "run.py").is_file():
        raise NotFound(
            f"there is no benchmark harness in {folder}", hint="set LEASEHOLD_BENCH to the folder of its run.py"
        )
    if not ADAPTER.is_file():
        raise NotFound(f"there is no {ADAPTER}", hint="peers are measured from a checkout of Leasehold")
    return Harness(folder=folder, root=root.expanduser().resolve(), postgres=postgres, say=say)


def failures(lines: Sequence[str]) -> list[str]:
    """Scenario and system of each failure with the last line of what was said about it: of a traceback, its error."""
    failed: list[tuple[str, str]] = []
    speaking = False
    for line in lines:
        if line.startswith("FAILED "):
            _, scenario, system, said = line.split(maxsplit=3)
            failed.append((f"{scenario} {system}", said))
        elif speaking and line and not _NEXT.match(line):
            failed[-1] = (failed[-1][0], line.strip())
        speaking = line.startswith("FAILED ") or (speaking and not _NEXT.match(line))
    return [f"{what}: {said}" for what, said in failed]


async def _answers(url: str) -> bool:
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(2.0):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 5432)
    except OSError:  # TimeoutError is one
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


async def _stopped(pid: int, number: int) -> bool:
    """Not a child of ours: it is asked, and watched until it is gone."""
    try:
        os.kill(pid, number)
        async with asyncio.timeout(_STOP_SECONDS):
            while True:
                os.kill(pid, 0)
                await asyncio.sleep(0.1)
    except ProcessLookupError:
        return True
    except TimeoutError:
        return False
