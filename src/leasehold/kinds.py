"""What is refused of a handler where it is declared: in a program with the database, and in a remote worker."""

import inspect
import re
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

from leasehold.errors import BadInput

#: As is_kind.sql has it.
_KIND = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_LENGTH = 100
#: What the first parameter is called, unless its type says that it is the context; underscores around it do not count.
_CONTEXT_NAMES = ("ctx", "context", "c", "")


def check_kind(decorator: str, kind: Any) -> None:
    """A decorator without its kind would be called with the function, and register nothing."""
    if callable(kind):
        name = getattr(kind, "__name__", "function")
        raise BadInput(
            f"{decorator} without a kind registers nothing: {name} would never run", hint=f'{decorator}("shop.{name}")'
        )
    if not isinstance(kind, str) or not _KIND.fullmatch(kind) or len(kind) > _LENGTH:
        raise BadInput(f"{kind!r} cannot be a kind", hint="a kind is pack.verb in lower case, such as shop.refund")


def read_hints(kind: str, function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a handler's parameters and of its result."""
    try:
        return get_type_hints(function)
    except (NameError, TypeError) as problem:
        raise BadInput(
            f"the annotations of handler {function.__qualname__} for {kind} cannot be read: {problem}",
            hint="import what they name where the module is run, not under TYPE_CHECKING alone",
        ) from None


def require_context(kind: str, function: Callable[..., Any], *contexts: type) -> None:
    """A handler that forgot its first parameter would get the context as its payload, and succeed."""
    first = next(iter(inspect.signature(function).parameters))
    hint = read_hints(kind, function).get(first)
    fits = first.strip("_") in _CONTEXT_NAMES or any(
        isinstance(one, type) and issubclass(one, contexts) for one in get_args(hint) or (hint,)
    )
    if not fits:
        raise BadInput(
            f"handler {function.__qualname__} for {kind} takes {first!r} first, where the context goes",
            hint=f"begin with it: {function.__name__}(ctx: {contexts[0].__name__}, {first})",
        )
