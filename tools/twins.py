"""The methods of sync handlers, made from the async ones: `python -m tools.generate` writes them.

`docs/design/typing.md` says why. A twin is one line: it runs the async method in the event loop,
and waits for it in the thread of the handler.
"""

import ast
import re
from pathlib import Path

#: Below a mark stands what is made: of which classes, and how a twin reaches their object.
_START = r"(?P<start>    # <twins of (?P<classes>[\w, ]+)>\n)"
_MARK = re.compile(_START + r".*?(?P<end>    # </twins>\n)", re.DOTALL)
_REACHED = {
    "Log": "self._ctx.ask(self._ctx.inner.log.{})",
    "Context": "self.ask(self.inner.{})",
    "Bodies": "self._ctx.ask(self._ctx.inner.bodies.{})",
    "Transaction": "self._ctx.ask(self.inner.{})",
    "AttemptTransaction": "self._ctx.ask(self.inner.{})",
}
#: Written by hand, because a thread waits in another way, or not for sync handlers.
_OTHERWISE = {"wait_cancelled", "succeed", "remember", "look"}
#: Fields of a context that are not for handlers.
_INNER = {"link", "signals", "secrets", "timeout_s"}
#: Names that exist when the module is run; other annotations are quoted.
_AT_RUN_TIME = {
    "Any", "Mapping", "R", "Sequence", "UUID", "bool", "bytes", "datetime", "dict", "float", "int",
    "list", "object", "str", "Duration",
}  # fmt: skip


def with_twins(path: Path, sources: list[Path]) -> str:
    """The text of the module with its twins as they should be."""
    classes = {
        node.name: node
        for source in sources
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.ClassDef)
    }

    def made(mark: re.Match[str]) -> str:
        names = mark["classes"].split(", ")
        return mark["start"] + "".join(_twins(classes[name]) for name in names) + mark["end"]

    return _MARK.sub(made, path.read_text())


def _twins(node: ast.ClassDef) -> str:
    text = ""
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            if not part.target.id.startswith("_") and part.target.id not in _INNER:
                text += _property(part.target.id, part.annotation)
        elif isinstance(part, ast.AsyncFunctionDef) and _has_twin(part):
            text += _method(part, _REACHED[node.name])
    return text


def _property(name: str, annotation: ast.expr) -> str:
    type_ = ast.unparse(_quoted(annotation))
    return f"    @property\n    def {name}(self) -> {type_}:\n        return self.inner.{name}\n\n"


def _method(part: ast.AsyncFunctionDef, reached: str) -> str:
    given = part.args
    for one in (*given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if one is not None and one.annotation is not None:
            one.annotation = _quoted(one.annotation)
    assert part.returns is not None
    returns = ast.unparse(_quoted(part.returns))
    passed = [one.arg for one in given.args[1:]]
    passed += [f"*{given.vararg.arg}"] if given.vararg else []
    passed += [f"{one.arg}={one.arg}" for one in given.kwonlyargs]
    passed += [f"**{given.kwarg.arg}"] if given.kwarg else []
    call = reached.format(f"{part.name}({', '.join(passed)})")
    result = call if returns == "None" else f"return {call}"
    return f"    def {part.name}({ast.unparse(given)}) -> {returns}:\n        {result}\n\n"


def _quoted(annotation: ast.expr) -> ast.expr:
    """The annotation as a text if it names what is imported for type checkers alone."""
    if isinstance(annotation, ast.Constant):
        return annotation
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    if names <= _AT_RUN_TIME:
        return annotation
    return ast.Constant(ast.unparse(annotation).replace("'", ""))


def _has_twin(part: ast.AsyncFunctionDef) -> bool:
    yields = any(isinstance(node, ast.Yield) for node in ast.walk(part))
    private = part.name.startswith("_") or part.name in _OTHERWISE
    return not (yields or private or part.decorator_list)
