"""The YAML file of an application to tune: its parameters, its objective, the search and the measurement.

Messages name the key as in the file, and the legal range. `decide/tests/tuning/bad` has a file for each mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from sluice.document import ConfigError, Strict, parse_as
from sluice.tuning.objective.block import Metric
from sluice.tuning.objective.enough import TrialLength
from sluice.tuning.objective.objective import Objective, TuningSlo
from sluice.tuning.session.create import problems
from sluice.tuning.session.session import MeasuredRoot, Plan
from sluice.tuning.space import Boolean, Category, Float, Integer, Parameter, Requirement, Space, Value
from sluice.tuning.space.constraint import Linear
from sluice.tuning.space.parameter import ValueKind

Number = int | float
_VALUE = bool | int | float | str


class _When(Strict):
    parameter: str
    model_config = ConfigDict(populate_by_name=True)
    values: list[_VALUE] = Field(alias="is")


class _Parameter(Strict):
    name: str
    service: str = ""
    kind: Literal["integer", "float", "category", "boolean"]
    low: Number | None = None
    high: Number | None = None
    scale: Literal["linear", "log"] = "linear"
    choices: list[str] | None = None
    default: _VALUE
    when: _When | None = None

    @model_validator(mode="after")
    def _of_its_kind(self) -> _Parameter:
        ranged = self.kind in ("integer", "float")
        for key, is_set, wanted in (
            ("low", self.low is not None, ranged),
            ("high", self.high is not None, ranged),
            ("choices", self.choices is not None, self.kind == "category"),
        ):
            if is_set != wanted:
                raise ValueError(f"{key} {'is missing' if wanted else 'is not legal'} for kind {self.kind}")
        if self.scale == "log" and not ranged:
            raise ValueError(f"scale is not legal for kind {self.kind}")
        if self.kind == "integer" and not (isinstance(self.low, int) and isinstance(self.high, int)):
            raise ValueError(f"low {self.low}, high {self.high} are not legal for kind integer; legal: whole numbers")
        return self

    def parameter(self) -> Parameter:
        kind: ValueKind = Boolean()
        default: Value = self.default
        if self.kind == "integer":
            kind = Integer(int(self.low or 0), int(self.high or 0), self.scale == "log")
        elif self.kind == "float":
            kind = Float(float(self.low or 0), float(self.high or 0), self.scale == "log")
            default = float(default) if isinstance(default, int) and not isinstance(default, bool) else default
        elif self.kind == "category":
            kind = Category(tuple(self.choices or ()))
        when = None if self.when is None else Requirement(self.when.parameter, tuple(self.when.values))
        return Parameter(self.name, kind, default, self.service, when)


class _Constraint(Strict):
    sum: dict[str, Number]
    at_least: Number | None = None
    at_most: Number | None = None

    def linear(self) -> Linear:
        factors = tuple((name, float(factor)) for name, factor in self.sum.items())
        return Linear(factors, _float(self.at_least), _float(self.at_most))


def _known(metrics: dict[str, Number]) -> dict[str, Number]:
    unknown = [name for name in metrics if name not in _METRICS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a metric; legal: {', '.join(_METRICS)}")
    return metrics


_METRICS = {metric.value: metric for metric in Metric}
_Metrics = Annotated[dict[str, Number], AfterValidator(_known)]


class _Objective(Strict):
    minimize: _Metrics
    slos: _Metrics = Field(default={})
    threshold_ms: Number | None = None


class _Window(Strict):
    warm_up_s: Number = TrialLength.warm_up_s
    least_s: Number = TrialLength.least_s
    most_s: Number = TrialLength.most_s
    precision: Number = TrialLength.precision


class _Root(Strict):
    service: str = Field(min_length=1)
    operation: str | None = Field(default=None, min_length=1)


class _Application(Strict):
    target: str
    root: _Root
    parameters: list[_Parameter]
    constraints: list[_Constraint] = Field(default=[])
    objective: _Objective
    method: str = Plan.method
    seed: int = Plan.seed
    budget: int = Plan.budget
    parallel: int = Plan.parallel
    pairs: int = Plan.pairs
    patience_ms: int = Plan.patience_ms
    window: _Window = _Window()


@dataclass(frozen=True)
class TuningFile:
    """The content of a file. `service`, `operation`: the root whose requests the objective measures; None: any
    operation."""

    plan: Plan
    service: str
    operation: str | None


def load(path: Path, name: str) -> TuningFile:
    """Reads the plan of a session `name` from `path`. ConfigError when the file cannot be read or parsed, or is not
    legal."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise ConfigError(f"read {path}: {cause}") from cause
    file = parse_as(_Application, text, str(path), "target, root, parameters and objective")
    plan = Plan(
        name=name,
        target=file.target,
        space=Space(
            tuple(parameter.parameter() for parameter in file.parameters),
            tuple(constraint.linear() for constraint in file.constraints),
        ),
        objective=Objective(
            tuple((_METRICS[name], float(weight)) for name, weight in file.objective.minimize.items()),
            tuple(TuningSlo(_METRICS[name], float(limit)) for name, limit in file.objective.slos.items()),
            _float(file.objective.threshold_ms),
        ),
        method=file.method,
        seed=file.seed,
        budget=file.budget,
        parallel=file.parallel,
        pairs=file.pairs,
        patience_ms=file.patience_ms,
        window=TrialLength(**{key: float(value) for key, value in file.window.model_dump().items()}),
        root=MeasuredRoot(file.root.service, file.root.operation or ""),
    )
    wrong = list(problems(plan))
    if wrong:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in wrong))
    return TuningFile(plan=plan, service=file.root.service, operation=file.root.operation)


def _float(number: Number | None) -> float | None:
    return None if number is None else float(number)
