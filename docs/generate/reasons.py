"""The page of reason codes: the cases of decisions, and every other `Reason` in the code."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from docs.generate.markdown import page, table
from sluice.cli.pools.text import ADVICE, BASES, STATES
from sluice.pools.policy.transitions import TABLE

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = REPOSITORY / "recommender/decide/src/sluice"
#: Rooms whose reasons are of answers on pools, of localization, and of subsets.
ROOMS = ("pools", "subsets")
_CODE = re.compile(r"[A-Z]+(?:_[A-Z]+)*")
_INTRODUCTION = """
Each answer has reasons: a code, which is stable and for programs, and a sentence for people. The first reason of an
answer on a pool is its case. [Cases](../algorithms/cases.md) and [guard](../algorithms/guard.md) have the rules, and
[troubleshooting](../troubleshooting.md) has the remedies. `…` stands for a value.
"""
_CASES = (
    "The first case that holds decides, in this order. `of the choice` and `from the belief`: the evidence decides.\n"
)


def text() -> str:
    cases = [
        (
            f"`{case.name}`",
            case.value,
            row.action.value,
            "of the choice" if row.basis is None else row.basis.value,
            "from the belief" if row.state is None else row.state.value,
        )
        for case, row in TABLE.items()
    ]
    others = sorted(
        (f"`{code}`", " / ".join(sentences), room) for (code, room), sentences in _sentences_by_code().items()
    )
    return page(
        "Reason codes, states and bases",
        _INTRODUCTION,
        f"## Cases\n\n{_CASES}\n{table(['code', 'sentence', 'action', 'basis', 'state'], cases)}",
        f"## Other reasons\n\n{table(['code', 'sentence', 'in'], others)}",
        f"## Advice on the hardware\n\n{table(['code', 'meaning'], ADVICE.items())}",
        f"## States\n\n{table(['state', 'meaning'], STATES.items())}",
        f"## Bases\n\n{table(['basis', 'meaning'], BASES.items())}",
    )


def _sentences_by_code() -> dict[tuple[str, str], list[str]]:
    """The sentences of each code, by code and room; `…` for a code whose sentence is computed elsewhere."""
    by_code: dict[tuple[str, str], list[str]] = {}
    for room in ROOMS:
        for file in sorted((SOURCES / room).rglob("*.py")):
            if not file.name.endswith("_pb2.py"):
                for code, sentences in _reasons(ast.parse(file.read_text())):
                    known = by_code.setdefault((code, room), [])
                    known += [sentence for sentence in sentences if sentence not in known]
    return {place: sentences or ["…"] for place, sentences in by_code.items()}


def _reasons(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Codes and sentences: of calls of Reason and AgentProposal, and of pairs (code, sentence)."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for scope in [*functions, tree]:
        for node in _own(scope):
            values = _values(node)
            for code, sentence in pairwise(values):
                if isinstance(code, ast.Constant) and isinstance(code.value, str) and _CODE.fullmatch(code.value):
                    yield code.value, list(_sentences(sentence, scope))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own(child)


def _values(node: ast.AST) -> list[ast.expr]:
    """Where a code and its sentence may stand side by side."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Reason", "AgentProposal"):
        return [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in ("code", "text"))]
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[1], ast.Constant | ast.JoinedStr):
        return node.elts if " " in ast.unparse(node.elts[1]) else []
    return []


def _sentences(value: ast.expr, scope: ast.AST) -> Iterator[str]:
    """Of a literal; of a name, those of the last literal above that its function gives it."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in value.values)
    elif isinstance(value, ast.IfExp):
        yield from (*_sentences(value.body, scope), *_sentences(value.orelse, scope))
    elif isinstance(value, ast.Name):
        assignments = [
            node
            for node in _own(scope)
            if isinstance(node, ast.Assign)
            and node.lineno < value.lineno
            and any(getattr(target, "id", "") == value.id for target in node.targets)
        ]
        if assignments:
            yield from _sentences(max(assignments, key=lambda node: node.lineno).value, scope)
