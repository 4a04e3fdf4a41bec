"""Traces and messages as no application has them, by which memory would be lost first."""

from integration.masses import check_crowd, check_large_trace
from support.running_job import undisturbed
from support.stack import Stack


def test_a_million_spans_in_one_trace(stack: Stack) -> None:
    with undisturbed(stack):
        check_large_trace(stack, "million", 1_000_000)


def test_a_hundred_thousand_services_in_one_message(stack: Stack) -> None:
    with undisturbed(stack):
        check_crowd(stack, "throng", 100_000)
