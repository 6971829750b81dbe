"""Handlers: plain functions with typed payloads.

A handler is an async function, or a sync one (it then runs in a thread and gets a SyncContext). It returns its result,
or raises one of the ``outcomes``.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from leasehold import job_options, json_codec
from leasehold.durations import seconds_of
from leasehold.errors import BadInput, TooLarge
from leasehold.kinds import read_hints, require_context
from leasehold.program.context import Context, SyncContext
from leasehold.program.outcomes import InvalidPayload, InvalidResult, Snooze, words_of
from leasehold.quick_json import QuickJson

Function = Callable[..., Any]

#: How the worker runs the kind; SQL never hears of these.
RUN_OPTIONS = ("isolate", "memory_mb", "soft_timeout")
#: Options that are numbers, and no durations.
_NUMBERS = job_options.NUMBERS - job_options.DURATIONS | {"memory_mb"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A function that handles one kind, and the options it was declared with."""

    kind: str
    function: Function
    options: dict[str, Any]
    job_options: dict[str, Any]  # those that go to SQL, under SQL's names
    blocking: bool  # a sync function: runs in a thread
    isolate: bool  # each attempt runs in a process of its own
    soft_timeout: float | None  # seconds; None means half of the job's hard timeout
    version: int  # of the payload's shape
    _payload: TypeAdapter[Any] | None
    _quick: QuickJson | None  # where the payload's type leaves nothing to be asked of its JSON
    _result: TypeAdapter[Any]
    upcasts: dict[int, Callable[[Any], Any]] = field(default_factory=dict)  # from older versions of the payload

    @classmethod
    def of(cls, kind: str, function: Function, given: Mapping[str, Any]) -> "Handler":
        """Read the payload's type off the second parameter and the result's type off the return annotation."""
        names, options = _parameters(kind, function), dict(given)
        of_jobs = _job_options(kind, options)
        if options.get("isolate"):
            _require_importable(kind, function)
        elif "memory_mb" in options:
            raise BadInput(f"{kind}: memory_mb holds for a process of its own only", hint="add isolate=True")
        hints = read_hints(kind, function)
        adapter = TypeAdapter(hints.get(names[1], Any)) if len(names) == 2 else None
        return cls(
            kind=kind,
            function=function,
            options=options,
            job_options=of_jobs,
            blocking=not inspect.iscoroutinefunction(function),
            isolate=bool(options.get("isolate")),
            soft_timeout=_optional_seconds(kind, "soft_timeout", options.get("soft_timeout")),
            version=int(options.get("version", 1)),
            _payload=adapter,
            _quick=None if adapter is None else QuickJson.of(adapter),
            _result=_result_adapter(hints.get("return", Any)),
        )

    @property
    def queue(self) -> str:
        return str(self.options.get("queue", "default"))

    @property
    def memory_mb(self) -> int | None:
        return self.options.get("memory_mb")

    def encode_payload(self, value: Any) -> str:
        """A payload as JSON text, checked against the handler's type before anybody waits for it."""
        if self._payload is None or value is None:
            return json_codec.encode({} if value is None else value)
        checked = self._checked(value)
        if quick := self._quick.text(checked) if self._quick else None:
            return quick
        try:
            return json_codec.encode(self._payload.serializer.to_python(checked, mode="json"))
        except PydanticSerializationError as problem:
            raise BadInput(
                f"the payload of {self.kind} cannot be written as JSON: {problem}",
                hint="a payload is made of numbers, texts, lists, mappings, times, dataclasses and pydantic models",
            ) from None

    def encode_payloads(self, values: Sequence[Any]) -> list[str]:
        """The same for many, which takes less for each."""
        if self._quick and len(values) > 1:
            quick = self._quick.texts([self._checked(value) for value in values])
            if quick is not None:
                return quick
        return [self.encode_payload(value) for value in values]

    def _checked(self, value: Any) -> Any:
        if self._payload is None or value is None:
            return value
        try:
            return self._payload.validator.validate_python(value)
        except ValidationError as problem:
            raise BadInput(
                f"the payload of {self.kind} does not fit: {_faults(problem)}",
                hint=f"{self.function.__qualname__} takes {_payload_type(self.kind, self.function)}",
            ) from None

    async def run(
        self, ctx: Context, text: str, *, in_thread: Callable[..., Awaitable[Any]] = asyncio.to_thread
    ) -> str | None:
        """Call the function with the payload in this JSON text; its result comes back as JSON text, None as None."""
        arguments = () if self._payload is None else (self._decode(text),)
        if self.blocking:
            sync = SyncContext(ctx, asyncio.get_running_loop())
            return self.encode_result(await in_thread(self.function, sync, *arguments))
        return self.encode_result(await self.function(ctx, *arguments))

    def _decode(self, text: str) -> Any:
        assert self._payload is not None
        try:
            return self._payload.validator.validate_json(text)
        except ValidationError as problem:
            raise InvalidPayload(_faults(problem)) from None

    def upcast(self, text: str, version: int) -> str:
        """The payload in today's shape; one of a later version comes from a newer program, and must wait for it."""
        if version == self.version:
            return text
        if version > self.version:
            raise Snooze(f"the payload has version {version}, this program knows {self.version}", after=30.0)
        value = json_codec.decode(text)
        for step in range(version, self.version):
            if step not in self.upcasts:
                raise InvalidPayload(f"the payload has version {step}, and nothing turns it into {step + 1}")
            value = self.upcasts[step](value)
        return json_codec.encode(value)

    def decode_result(self, result: Any) -> Any:
        """A result that was JSON as the value that the handler returned."""
        if result is None:
            return None
        try:
            return self._result.validate_python(result)
        except ValidationError as problem:
            raise BadInput(
                f"the result of {self.kind} is not what its handler's annotation says: {_faults(problem)}",
                hint="correct the annotation, or read the job: (await app.client(tenant)).get(job_id)",
            ) from None

    def encode_result(self, result: Any) -> str | None:
        if result is None:
            return None
        try:
            # A result of another type than annotated is kept as it is: the work is done, and typing is advice.
            plain = self._result.dump_python(result, mode="json", warnings=False)
            return json_codec.encode(plain, what="result")
        except (BadInput, TooLarge) as problem:
            raise InvalidResult(str(problem)) from None
        except Exception as problem:
            raise InvalidResult(f"the result cannot be serialised: {words_of(problem)}") from None


def two_handlers(kind: str, one: Function, other: Function) -> BadInput:
    """The error of a kind that has two handlers; of one module that was imported twice, it names the two names."""
    module, other_module = one.__module__, other.__module__
    if _place(one) == _place(other) and module != other_module:
        return BadInput(
            f"{kind} has two handlers: its module was imported as {module} and as {other_module}",
            hint="import it by one name everywhere: leasehold worker takes the name that other modules import",
        )
    names = f"{module}.{one.__qualname__} and {other_module}.{other.__qualname__}"
    return BadInput(f"{kind} has two handlers: {names}", hint="give one of them another kind, or remove it")


def _place(function: Function) -> tuple[str, int] | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else None


def _payload_type(kind: str, function: Function) -> str:
    name = list(inspect.signature(function).parameters)[1]
    type_ = read_hints(kind, function)[name]
    return getattr(type_, "__qualname__", None) or str(type_)


def _faults(problem: ValidationError) -> str:
    """Each fault by the field it is in."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'payload'}: {e['msg']}" for e in problem.errors())


def _result_adapter(type_: Any) -> TypeAdapter[Any]:
    """NaN stays NaN, so that it is refused and not silently kept as null; a model's own configuration wins."""
    try:
        return TypeAdapter(type_, config={"ser_json_inf_nan": "constants"})
    except PydanticUserError:
        return TypeAdapter(type_)


def _parameters(kind: str, function: Function) -> list[str]:
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    by_position = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters.values())
    if not (by_position and 1 <= len(names) <= 2):
        raise BadInput(f"handler {function.__qualname__} for {kind} takes (ctx) or (ctx, payload), not {names}")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise BadInput(f"handler {function.__qualname__} for {kind} is a generator", hint="return the result")
    require_context(kind, function, Context, SyncContext)
    return names


def _job_options(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    known = sorted({*job_options.OF_KINDS, *job_options.LONG, *RUN_OPTIONS, "retry"})
    if unknown := [name for name in options if name not in known]:
        raise BadInput(f"{kind}: there is no option {unknown[0]!r}", hint=f"known options: {', '.join(known)}")
    of_jobs = {name: value for name, value in options.items() if name not in (*RUN_OPTIONS, "retry")}
    try:
        for name, value in job_options.long_names(of_jobs).items():
            if name in _NUMBERS and not _is_number(value):
                short = job_options.SHORT.get(name, name)
                raise BadInput(f"{short} is a number, not {value!r}", hint=f"{short}=5")
        found = job_options.plain(of_jobs)
    except BadInput as problem:
        raise BadInput(f"{kind}: {problem}", hint=problem.hint) from None
    if "retry" in options:
        found["retry_base_s"], found["retry_cap_s"] = _retry(kind, options["retry"])
    return found


def _retry(kind: str, value: Any) -> tuple[float, float]:
    match value:
        case (base, cap):
            return seconds_of(base, f"{kind}: retry"), seconds_of(cap, f"{kind}: retry")
    raise BadInput(
        f"{kind}: retry={value!r} is not a pair of seconds: the first delay and the longest one",
        hint="retry=(1, 3600); attempts=5 is how often a job is tried",
    )


def _optional_seconds(kind: str, name: str, value: Any) -> float | None:
    return None if value is None else seconds_of(value, f"{kind}: {name}")


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _require_importable(kind: str, function: Function) -> None:
    if "<" in function.__qualname__:
        raise BadInput(
            f"{kind}: {function.__qualname__} cannot run in a process of its own",
            hint="define the handler at the top of a module, so that the process can import it",
        )
