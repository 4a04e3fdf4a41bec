"""Reads an application from its JSON object."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.subsets.application import Application, Call, Container, Host, PairRate, Root, Service
from sluice.subsets.document.fields import Fields
from sluice.subsets.legal import DEEPEST, IllegalSubsetsError
from sluice.subsets.microns.settings import MicronsSettings


@dataclass(frozen=True)
class Document:
    """samples: path of the CSV of latency samples, as in the document; empty where there is none. ignored: paths of
    unknown keys, which are legal and may be typing errors."""

    application: Application
    settings: MicronsSettings
    samples: str
    ignored: tuple[str, ...]


def read_application(value: Mapping[str, Any]) -> Document:
    """Reads fields and checks their types. `legal.check` checks their values.

    Raises:
        IllegalError: a field is missing or has a wrong type; the message names its path and the legal type.
    """
    top = Fields(value, "")
    ignored: list[str] = []
    services = tuple(_service(service, ignored) for service in top.objects("services", needed=True))
    application = Application(
        tuple(_host(host, ignored) for host in top.objects("hosts", needed=True)),
        services,
        tuple(_root(root, ignored) for root in top.objects("roots")),
        tuple(_pair(pair, ignored) for pair in top.objects("pairs")),
        top.integer("quota", 0) if top.has("quota") else None,
        top.integer("min_subset", 2),
        top.number("percentile", 0.95),
        top.flag("keep_in_zone", False),
        top.flag("prefer_zone", False),
    )
    latency, microns = top.object("latency"), top.object("microns")
    samples = ""
    if latency is not None:
        samples = latency.text("samples", "")
        ignored += latency.others()
    settings = MicronsSettings() if microns is None else _settings(microns, ignored)
    return Document(application, settings, samples, (*top.others(), *ignored))


def _host(one: Fields, ignored: list[str]) -> Host:
    host = Host(
        one.text("name"),
        one.number("cpu", 0.0),
        one.number("memory_bandwidth", 0.0),
        one.number("network", 0.0),
        one.text("zone", ""),
    )
    ignored += one.others()
    return host


def _service(one: Fields, ignored: list[str]) -> Service:
    name = one.text("name")
    containers = tuple(_container(container, ignored) for container in one.objects("containers", needed=True))
    ignored += one.others()
    return Service(name, containers)


def _container(one: Fields, ignored: list[str]) -> Container:
    container = Container(
        one.text("name"),
        one.text("host"),
        one.text("address", ""),
        one.flag("drained", False),
        one.number("capacity_per_s", math.inf),
    )
    ignored += one.others()
    return container


def _root(one: Fields, ignored: list[str]) -> Root:
    tree = one.object("tree")
    if tree is None:
        raise IllegalSubsetsError([f"{one.path('tree')} is missing; legal: an object with service and stages"])
    root = Root(one.text("name"), one.number("rate_per_s"), _call(tree, ignored, 1))
    ignored += one.others()
    return root


def _call(one: Fields, ignored: list[str], depth: int) -> Call:
    if depth > DEEPEST:
        raise IllegalSubsetsError([f"{one.where} is at level {depth} of its call tree; legal: up to {DEEPEST}"])
    service = one.text("service")
    stages = tuple(tuple(_call(callee, ignored, depth + 1) for callee in stage) for stage in one.lists("stages"))
    calls = one.number("calls", 1.0)
    ignored += one.others()
    return Call(service, stages, calls)


def _pair(one: Fields, ignored: list[str]) -> PairRate:
    pair = PairRate(one.text("upstream"), one.text("downstream"), one.number("rate_per_s"))
    ignored += one.others()
    return pair


def _settings(one: Fields, ignored: list[str]) -> MicronsSettings:
    usual = MicronsSettings()
    settings = MicronsSettings(
        one.flag("weights", usual.weights),
        one.number("learning_rate", usual.learning_rate),
        one.integer("stagnation", usual.stagnation),
        one.number("balance", usual.balance),
        one.number("churn_budget", usual.churn_budget),
    )
    ignored += one.others()
    return settings
