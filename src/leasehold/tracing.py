"""OpenTelemetry, where ``LEASEHOLD_OTEL`` asks for it: requests, enqueues, attempts and fetches as spans of one trace.

While it is off nothing of OpenTelemetry is imported, and every question here is answered at once. Spans carry names of
kinds, queues and hosts, and ids; never payloads, results, headers, or the path of a URL, which may hold a secret.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from leasehold.errors import BadSetting

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

_tracer: "Tracer | None" = None
_CREDENTIAL_PROVIDERS = [f"OTEL_PYTHON_EXPORTER_OTLP_HTTP_{of}CREDENTIAL_PROVIDER" for of in ("", "TRACES_")]
Kind = Literal["internal", "server", "client", "producer", "consumer"]


def is_on() -> bool:
    return _tracer is not None


def configure(service: str) -> None:
    """For our own programs: export to where the OTEL_* variables say, under this name unless they have another."""
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        exports = exporter()
    except ImportError:
        raise BadSetting(
            "LEASEHOLD_OTEL=1 needs OpenTelemetry, which is not installed", hint="pip install 'leasehold[otel]'"
        ) from None
    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": service}
    provider = TracerProvider(resource=Resource.create({**named, "service.version": version("leasehold")}))
    provider.add_span_processor(BatchSpanProcessor(exports))
    start(provider)


def exporter() -> "SpanExporter":
    """Sends spans to the collector that the OTEL_* variables name, and wherever that would lead, to nobody else.

    Left to itself the exporter takes a redirect for a success. Who names a provider of credentials for it brings a
    session of their own.
    """
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    class Straight(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            if resp.is_redirect:
                resp.close()
                raise requests.TooManyRedirects("the collector of traces leads elsewhere", response=resp)

    has_own = any(name in os.environ for name in _CREDENTIAL_PROVIDERS)
    return OTLPSpanExporter(session=None if has_own else Straight())


def start(provider: "TracerProvider | None") -> None:
    """Make spans with this provider from now on; None makes an end of it."""
    global _tracer
    _tracer = None if provider is None else provider.get_tracer("leasehold", version("leasehold"))


class Span:
    """A span, or nothing while tracing is off."""

    __slots__ = ("_span",)

    def __init__(self, span: "OtelSpan | None" = None) -> None:
        self._span = span

    def set(self, name: str, value: Any) -> None:
        if self._span and value is not None:
            self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        if self._span:
            self._span.update_name(name)

    def fail(self, why: str) -> None:
        """Mark it as an error; ``why`` is a word of ours, not the words of an exception."""
        if self._span:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR, why)


@contextmanager
def span(name: str, kind: Kind = "internal", *, parent: str | None = None, **attributes: Any) -> Iterator[Span]:
    """A span around the block, below ``parent`` (a traceparent) or else below the current one."""
    if _tracer is None:
        yield Span()
        return
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    context = TraceContextTextMapPropagator().extract({"traceparent": parent}) if parent else None
    given = {key.replace("__", "."): value for key, value in attributes.items() if value is not None}
    with _tracer.start_as_current_span(
        name,
        context=context,
        kind=SpanKind[kind.upper()],
        attributes=given,
        record_exception=False,
        set_status_on_exception=False,
    ) as made:
        try:
            yield Span(made)
        except BaseException as problem:
            made.set_status(StatusCode.ERROR, type(problem).__name__)  # its words may hold what a trace must not
            raise


def traceparent() -> str | None:
    """The current span as a header's value; None while tracing is off or there is no span."""
    if _tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")
