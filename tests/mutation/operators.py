"""Mutants of a module: one small change in a function of it each.

A test that knows what a function is for fails on a mutant of it. Annotations, docstrings, texts of
messages, and code outside of functions are left alone; so is `strict` of `zip`, which only states
that lengths agree.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from typing import Any, NamedTuple, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Change = tuple[str, ast.AST]
"""The name of the operator, and what stands in place of the node."""
_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
_NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "left": "right", "right": "left",
}  # fmt: skip
"""Functions, and sides of `searchsorted`, that are taken for each other."""
_LEFT_ALONE = {"annotation", "returns", "args", "decorator_list", "bases", "type_params"}
"""Fields of functions, classes and assignments that are not changed."""
UNCHANGED = "unchanged"
_WHOLE = (ast.JoinedStr, ast.Import, ast.ImportFrom)


class Place(NamedTuple):
    """A field of a node, or an element of the list that is in the field."""

    parent: ast.AST
    field: str
    index: int | None

    def node(self) -> Any:
        value = getattr(self.parent, self.field)
        return value if self.index is None else value[self.index]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


class Mutant(NamedTuple):
    """A module in which one node stands in place of another.

    path: of the module. line: of the change. name: tells it from all others, and stays the same
    when lines move.
    """

    path: str
    line: int
    name: str
    operator: str
    module: ast.Module
    place: Place
    node: ast.AST

    def tree(self) -> ast.Module:
        """The whole module, changed."""
        old = self.place.node()
        self.place.put(ast.copy_location(deepcopy(self.node), old))
        try:
            return ast.fix_missing_locations(deepcopy(self.module))
        finally:
            self.place.put(old)

    def undone(self) -> Mutant:
        """The module as it is, in place of this mutant."""
        return self._replace(
            name=f"{self.name} ({UNCHANGED})", operator=UNCHANGED, node=self.place.node()
        )


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its lines. path: only for their names."""
    module, lines = ast.parse(source), source.splitlines()
    times = Counter[str]()
    for names, place in _in_functions(module, ()):
        node = place.node()
        for operator, other in _changes(place):
            where = f"{path} {'.'.join(names)}: {lines[node.lineno - 1].strip()}"
            name = f"{where}: {_header(node)} -> {_header(other)}"
            times[name] += 1
            name += f" ({times[name]})" if times[name] > 1 else ""
            yield Mutant(path, node.lineno, name, operator, module, place, other)


def number_of_mutants(source: str) -> int:
    """How many `mutants` has, without their names, which take most of its time."""
    places = _in_functions(ast.parse(source), ())
    return sum(1 for _, place in places for _ in _changes(place))


def _changes(place: Place) -> Iterator[Change]:
    node = place.node()
    if isinstance(node, ast.Tuple) and isinstance(place.parent, ast.Assign | ast.Subscript):
        return  # Without an element nothing fits, which any test notices.
    if isinstance(place.parent, ast.keyword) and place.parent.arg == "strict":
        return
    for kind, change in _OPERATORS:
        if isinstance(node, kind):
            yield from change(node)


def _header(node: ast.AST) -> str:
    """A node as text; only the first line of a statement with a body."""
    return ast.unparse(node).split("\n")[0]


Found = Iterator[tuple[tuple[str, ...], Place]]
"""Places, with the names of the functions and classes around them."""


def _in_functions(node: ast.Module | ast.ClassDef, names: tuple[str, ...]) -> Found:
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from _in_functions(child, (*names, child.name))
        elif isinstance(child, ast.FunctionDef):
            yield from _within(child, (*names, child.name))


def _within(node: ast.AST, names: tuple[str, ...]) -> Found:
    is_defined = isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AnnAssign)
    for field, value in ast.iter_fields(node):
        if is_defined and field in _LEFT_ALONE:
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in children:
            if not isinstance(child, ast.AST) or isinstance(child, _WHOLE) or _is_text(child):
                continue
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from _within(child, (*names, child.name))
                continue
            if isinstance(child, ast.stmt | ast.expr):
                yield names, Place(node, field, index)
            yield from _within(child, names)


def _is_text(node: ast.AST) -> bool:
    """A docstring, or a text between statements."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with(node: Node, **fields: Any) -> Node:
    """A copy with other fields; the rest is shared, until `Mutant.tree` copies all."""
    copied = copy(node)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied


def _without(nodes: list[Node], place: int) -> list[Node]:
    return [*nodes[:place], *nodes[place + 1 :]]


def _comparison(node: ast.Compare) -> Iterator[Change]:
    for place, operator in enumerate(node.ops):
        other = _COMPARISONS[type(operator)]()
        yield "comparison", _with(node, ops=[*node.ops[:place], other, *node.ops[place + 1 :]])


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Change]:
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    texts = [side.value for side in sides if isinstance(side, ast.Constant)]
    is_text = any(isinstance(text, str | bytes) for text in texts)
    if not is_text and not any(isinstance(side, ast.JoinedStr) for side in sides):
        yield "arithmetic", _with(node, op=_ARITHMETIC[type(node.op)]())


def _junction(node: ast.BoolOp) -> Iterator[Change]:
    """`and` for `or`, and one of the conditions left out."""
    yield "junction", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for place in range(len(node.values)):
        rest = _without(node.values, place)
        yield "condition", rest[0] if len(rest) == 1 else _with(node, values=rest)


def _sign(node: ast.UnaryOp) -> Iterator[Change]:
    yield "sign", node.operand


def _choice(node: ast.IfExp) -> Iterator[Change]:
    yield from (("choice", node.body), ("choice", node.orelse))


def _branch(node: ast.If) -> Iterator[Change]:
    yield from (("branch", _with(node, test=ast.Constant(value))) for value in (True, False))


def _loop(node: ast.While | ast.For) -> Iterator[Change]:
    """A loop that does not run."""
    yield "loop", ast.Pass()


def _constant(node: ast.Constant) -> Iterator[Change]:
    match node.value:
        case bool():
            yield "constant", ast.Constant(not node.value)
        case int():
            yield "constant", ast.Constant(node.value + 1)
        case float():
            yield "constant", ast.Constant(2 * node.value if node.value else 1.0)
        case "left" | "right":
            yield "name", ast.Constant(_NAMES[node.value])


def _name(node: ast.Name) -> Iterator[Change]:
    if node.id in _NAMES and isinstance(node.ctx, ast.Load):
        yield "name", _with(node, id=_NAMES[node.id])


def _attribute(node: ast.Attribute) -> Iterator[Change]:
    if node.attr in _NAMES and isinstance(node.ctx, ast.Load):
        yield "name", _with(node, attr=_NAMES[node.attr])


def _keyword(node: ast.Call) -> Iterator[Change]:
    for place, keyword in enumerate(node.keywords):
        if keyword.arg != "strict":
            yield "keyword", _with(node, keywords=_without(node.keywords, place))


def _element(node: ast.Tuple | ast.List) -> Iterator[Change]:
    """An element left out, as of what makes up a key; not where names are assigned."""
    if isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for place in range(len(node.elts)):
            yield "element", _with(node, elts=_without(node.elts, place))


def _told(node: ast.Expr) -> Iterator[Change]:
    if isinstance(node.value, ast.Call):
        yield "statement", ast.Pass()


def _stored(node: ast.Assign) -> Iterator[Change]:
    if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        yield "statement", ast.Pass()


def _left_out(node: ast.stmt) -> Iterator[Change]:
    yield "statement", ast.Pass()


def _result(node: ast.Return) -> Iterator[Change]:
    if not (node.value is None or (isinstance(node.value, ast.Constant) and not node.value.value)):
        yield "result", ast.Return(ast.Constant(None))


def _context(node: ast.With) -> Iterator[Change]:
    """The body alone, as without a lock."""
    if all(item.optional_vars is None for item in node.items):
        yield "context", ast.If(ast.Constant(True), node.body, [])


_OPERATORS: list[tuple[Any, Callable[[Any], Iterator[Change]]]] = [
    (ast.Compare, _comparison),
    (ast.BinOp | ast.AugAssign, _arithmetic),
    (ast.BoolOp, _junction),
    (ast.UnaryOp, _sign),
    (ast.IfExp, _choice),
    (ast.If, _branch),
    (ast.For | ast.While, _loop),
    (ast.Constant, _constant),
    (ast.Name, _name),
    (ast.Attribute, _attribute),
    (ast.Call, _keyword),
    (ast.Tuple | ast.List, _element),
    (ast.Expr, _told),
    (ast.Assign, _stored),
    (ast.AugAssign | ast.Raise | ast.Delete | ast.Break | ast.Continue, _left_out),
    (ast.Return, _result),
    (ast.With, _context),
]
