"""Names of the decider: a class name stands for one thing, and a parameter list is short enough to read."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src/sluice"
#: The rooms whose functions are compiled, or called with the columns of a table.
COMPILED = {"fast"}
MOST_PARAMETERS = 6


def parsed() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if "v1" not in path.parts:
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def test_no_class_name_is_defined_twice() -> None:
    files: dict[str, list[str]] = defaultdict(list)
    for path, tree in parsed():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path)
    assert len(files) > 400
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether Numba compiles it: it takes arrays and numbers, and no value can stand for them."""
    names = {ast.unparse(decorator).partition("(")[0] for decorator in function.decorator_list}
    return bool(names & {"compiled", "summed"})


def is_command(function: ast.FunctionDef) -> bool:
    """Whether click calls it, with an argument for each option."""
    return any(ast.unparse(decorator).startswith("click.") for decorator in function.decorator_list)


def test_no_parameter_list_has_seven_or_more() -> None:
    functions = [
        (f"{path}:{node.name}", len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) - is_method(node))
        for path, tree in parsed()
        if Path(path).parts[0] not in COMPILED
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and not is_compiled(node) and not is_command(node)
    ]
    assert len(functions) > 2_000
    assert [name for name, parameters in functions if parameters > MOST_PARAMETERS] == []


def is_method(function: ast.FunctionDef) -> bool:
    arguments = function.args.args
    return bool(arguments) and arguments[0].arg in ("self", "cls")
