"""The search space: parameters, constraints between them, and rules that leave some of them out."""

from sluice.tuning.space.parameter import Boolean, Category, Float, Integer, Parameter, Requirement, Value
from sluice.tuning.space.space import Configuration, Point, Space

__all__ = [
    "Boolean",
    "Category",
    "Configuration",
    "Float",
    "Integer",
    "Parameter",
    "Point",
    "Requirement",
    "Space",
    "Value",
]
