"""A small language of expressions that are JSON: typed before any data is there, and always at an end.

    {"input": "mass"}                                       what the package reads under this name
    {"/": [{"input": "footprint"}, {"input": "energy"}]}    an operator and what it is applied to
    "text", true, 7, {"number": "0.5"}                      themselves

There are no names to bind, no loops and no calls. What is absent makes the result absent, except for ``has`` and
``first``. Wrong types are a RULE_TYPE_ERROR of the package; a division by zero is a VALIDATION_ERROR of the data.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, localcontext
from enum import StrEnum
from functools import reduce
from operator import add, eq, ge, gt, le, lt, mul, ne, sub, truediv
from typing import Any

from leasehold_packs.passports.errors import Code, PassportError, invalid
from leasehold_packs.passports.quantities import decimal_text, number

MAX_DEPTH = 32
MAX_NODES = 1_000
_MAX_PLACES = 34
#: Decimal arithmetic of IEEE 754 with 34 digits: the same on every machine.
_ARITHMETIC = Context(prec=34, Emax=6_144, Emin=-6_143, traps=[DivisionByZero, InvalidOperation, Overflow])


class Type(StrEnum):
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBERS = "numbers"
    TEXTS = "texts"


_SCALARS = (Type.NUMBER, Type.TEXT, Type.BOOLEAN)
_LISTS = (Type.NUMBERS, Type.TEXTS)

#: A Decimal, a str, a bool, a tuple of them, or None for what is absent.
Value = Any


@dataclass(frozen=True, slots=True)
class _Operator:
    """``gives`` tells the type of the result from those of the arguments, or None if they do not fit."""

    gives: Callable[[Sequence[Type]], Type | None]
    apply: Callable[..., Value]


# -- types ----------------------------------------------------------------------------------------------------------


def type_of(expression: Any, inputs: Mapping[str, Type]) -> Type:
    """The type of the result, or RULE_TYPE_ERROR. An expression that passes can only fail over its data."""
    _check_size(expression)
    return _type(expression, inputs)


def _type(expression: Any, inputs: Mapping[str, Type]) -> Type:
    literal = _literal(expression)
    if literal is not None:
        return _type_of_literal(literal)
    name, arguments = _taken_apart(expression)
    if name == "input":
        return _input_type(arguments, inputs)
    if name == "has":
        _input_type(arguments, inputs)
        return Type.BOOLEAN
    types = [_type(argument, inputs) for argument in arguments]
    result = _OPERATORS[name].gives(types)
    if result is None:
        raise _wrong(f"{name} cannot be applied to ({', '.join(types)})")
    return result


def _input_type(name: Any, inputs: Mapping[str, Type]) -> Type:
    if not isinstance(name, str) or name not in inputs:
        raise _wrong(f"there is no input {name!r}", hint=f"known: {', '.join(sorted(inputs))}")
    return inputs[name]


def inputs_of(expression: Any) -> frozenset[str]:
    """The inputs that a result comes from."""
    return frozenset(
        node[word]
        for node in _nodes(expression)
        if isinstance(node, dict)
        for word in ("input", "has")
        if isinstance(node.get(word), str)
    )


def _check_size(expression: Any) -> None:
    for count, _ in enumerate(_nodes(expression), start=1):
        if count > MAX_NODES:
            raise _wrong(f"an expression has at most {MAX_NODES} parts")


def _nodes(expression: Any, depth: int = 0) -> Iterator[Any]:
    if depth > MAX_DEPTH:
        raise _wrong(f"an expression has at most {MAX_DEPTH} levels")
    yield expression
    if isinstance(expression, dict):
        for argument in expression.values():
            for child in argument if isinstance(argument, list) else ():
                yield from _nodes(child, depth + 1)


def _taken_apart(expression: Any) -> tuple[str, Any]:
    if not isinstance(expression, dict) or len(expression) != 1:
        raise _wrong("an expression is a literal, or an object with one operator")
    ((name, arguments),) = expression.items()
    if name in ("input", "has"):
        return name, arguments
    if name not in _OPERATORS:
        raise _wrong(f"there is no operator {name!r}", hint=f"known: input, has, {', '.join(_OPERATORS)}")
    if not isinstance(arguments, list):
        raise _wrong(f"{name} is applied to a list")
    return name, arguments


def _literal(expression: Any) -> Value:
    if isinstance(expression, bool | str):
        return expression
    if isinstance(expression, int):
        return Decimal(expression)
    if isinstance(expression, dict) and set(expression) == {"number"} and isinstance(expression["number"], str):
        return Decimal(number(expression["number"]))
    return None


def _type_of_literal(literal: Value) -> Type:
    return Type.BOOLEAN if isinstance(literal, bool) else Type.TEXT if isinstance(literal, str) else Type.NUMBER


def _wrong(message: str, *, hint: str | None = None) -> PassportError:
    return PassportError(Code.RULE_TYPE_ERROR, message, hint=hint)


# -- values ---------------------------------------------------------------------------------------------------------


def value_of(expression: Any, values: Mapping[str, Value]) -> Value:
    """The result for these inputs, whose types were checked."""
    with localcontext(_ARITHMETIC):
        try:
            return _value(expression, values)
        except DecimalException as error:
            raise invalid(f"this cannot be calculated: {type(error).__name__}") from None


def _value(expression: Any, values: Mapping[str, Value]) -> Value:
    literal = _literal(expression)
    if literal is not None:
        return literal
    name, arguments = _taken_apart(expression)
    if name == "input":
        return values.get(arguments)
    if name == "has":
        return values.get(arguments) is not None
    if name == "if":
        return _branch(arguments, values)
    found = [_value(argument, values) for argument in arguments]
    if name == "first":
        return next((value for value in found if value is not None), None)
    if any(value is None for value in found):
        return None
    return _OPERATORS[name].apply(*found)


def _branch(arguments: Sequence[Any], values: Mapping[str, Value]) -> Value:
    """Only the branch that is taken is calculated: it may guard a division."""
    condition, then, otherwise = arguments
    chosen = _value(condition, values)
    return None if chosen is None else _value(then if chosen else otherwise, values)


# -- operators ------------------------------------------------------------------------------------------------------


def _exactly(result: Type, *wanted: Type) -> Callable[[Sequence[Type]], Type | None]:
    return lambda types: result if tuple(types) == wanted else None


def _some(result: Type, each: Type) -> Callable[[Sequence[Type]], Type | None]:
    return lambda types: result if types and set(types) == {each} else None


def _alike(types: Sequence[Type]) -> Type | None:
    return types[0] if types and len(set(types)) == 1 else None


def _comparable(types: Sequence[Type]) -> Type | None:
    return Type.BOOLEAN if len(types) == 2 and types[0] == types[1] and types[0] in _SCALARS else None


def _member(types: Sequence[Type]) -> Type | None:
    return Type.BOOLEAN if len(types) > 1 and _alike(types) in _SCALARS else None


def _counted(types: Sequence[Type]) -> Type | None:
    return Type.NUMBER if len(types) == 1 and types[0] in _LISTS else None


def _chosen(types: Sequence[Type]) -> Type | None:
    return types[1] if len(types) == 3 and types[0] == Type.BOOLEAN and types[1] == types[2] else None


def _extreme(types: Sequence[Type]) -> Type | None:
    return Type.NUMBER if list(types) == [Type.NUMBERS] else _some(Type.NUMBER, Type.NUMBER)(types)


def _each(*values: Value) -> tuple[Value, ...]:
    return values[0] if len(values) == 1 and isinstance(values[0], tuple) else values


def _round(value: Decimal, places: Decimal) -> Decimal:
    if places != int(places) or not 0 <= places <= _MAX_PLACES:
        raise invalid(f"round has 0 to {_MAX_PLACES} places")
    return value.quantize(Decimal(1).scaleb(-int(places)))


_NUMBER_PAIR = _exactly(Type.NUMBER, Type.NUMBER, Type.NUMBER)
_ORDERED = _exactly(Type.BOOLEAN, Type.NUMBER, Type.NUMBER)

_OPERATORS: dict[str, _Operator] = {
    "+": _Operator(_some(Type.NUMBER, Type.NUMBER), lambda *each: reduce(add, each)),
    "*": _Operator(_some(Type.NUMBER, Type.NUMBER), lambda *each: reduce(mul, each)),
    "-": _Operator(_NUMBER_PAIR, sub),
    "/": _Operator(_NUMBER_PAIR, truediv),
    "round": _Operator(_NUMBER_PAIR, _round),
    "min": _Operator(_extreme, lambda *each: min(_each(*each), default=None)),
    "max": _Operator(_extreme, lambda *each: max(_each(*each), default=None)),
    "sum": _Operator(_exactly(Type.NUMBER, Type.NUMBERS), lambda each: sum(each, Decimal(0))),
    "count": _Operator(_counted, lambda each: Decimal(len(each))),
    "<": _Operator(_ORDERED, lt),
    "<=": _Operator(_ORDERED, le),
    ">": _Operator(_ORDERED, gt),
    ">=": _Operator(_ORDERED, ge),
    "=": _Operator(_comparable, eq),
    "!=": _Operator(_comparable, ne),
    "in": _Operator(_member, lambda value, *others: value in others),
    "and": _Operator(_some(Type.BOOLEAN, Type.BOOLEAN), lambda *each: all(each)),
    "or": _Operator(_some(Type.BOOLEAN, Type.BOOLEAN), lambda *each: any(each)),
    "not": _Operator(_exactly(Type.BOOLEAN, Type.BOOLEAN), lambda value: not value),
    "if": _Operator(_chosen, lambda *_: None),
    "first": _Operator(_alike, lambda *_: None),
    "join": _Operator(_some(Type.TEXT, Type.TEXT), lambda *each: "".join(each)),
    "length": _Operator(_exactly(Type.NUMBER, Type.TEXT), lambda text: Decimal(len(text))),
    "text": _Operator(_exactly(Type.TEXT, Type.NUMBER), decimal_text),
}
