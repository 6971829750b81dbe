"""What a JSON Schema finds wrong with a value; also the program of a process of its own: see ``schema_sandbox``.

Imports nothing of ours: the process starts in a fraction of the time.
"""

import json
import pickle
import resource
import signal
import sys
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

#: A path into the value, and what is wrong there.
Broken = tuple[list[str], str]
_MEMORY_MB = 1024


class Unusable(Exception):
    """This is no schema, or none that says anything about this value."""


def broken(schema: Any, value: Any) -> list[Broken]:
    """Where the value breaks its schema, in order. The draft is the one that the schema declares."""
    try:
        errors = sorted(validator(schema).iter_errors(value), key=lambda error: [str(part) for part in error.path])
    except Unresolvable as error:
        raise Unusable(f"the schema refers to {error.ref!r}, which is not part of it") from None
    except (RecursionError, ArithmeticError):
        raise Unusable("the schema never comes to an end over this value, or cannot calculate with it") from None
    return [
        ([str(part) for part in error.absolute_path], f"breaks {error.validator}: {error.message[:200]}")
        for error in errors
    ]


def validator(schema: Any) -> Validator:
    """A validator that fetches nothing: without a registry of its own, the library would open remote references."""
    kind = _draft(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise Unusable(f"this is no JSON Schema: {error.message[:200]}") from None
    except RecursionError:
        raise Unusable("this JSON Schema is nested too deeply") from None
    made: Validator = kind(schema, registry=Registry())
    return made


def _draft(schema: Any) -> Any:
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is None:
        return Draft202012Validator
    kind = validator_for(schema, default=None)
    if kind is None:
        raise Unusable(f"the draft {declared!r} of JSON Schema is not known")
    return kind


def main() -> None:
    """Answer one order after the other, until there are no more."""
    _limit_memory()
    while True:
        try:
            seconds, schema, value = pickle.load(sys.stdin.buffer)  # from our own worker
        except EOFError:
            return
        _limit_processor(seconds)
        print(json.dumps(_answer(schema, value)), flush=True)


def _answer(schema: Any, value: Any) -> dict[str, Any]:
    try:
        return {"broken": broken(schema, value)}
    except Unusable as problem:
        return {"unusable": str(problem)}
    except MemoryError:
        return {"unusable": f"the schema needs more than {_MEMORY_MB} MB"}


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_MB << 20, hard))


def _limit_processor(seconds: float) -> None:
    """Of the processor, not of the clock: a busy machine makes nobody's schema wrong. SIGPROF ends this process."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main()
