"""Reads the files of a request: the application, and the files that it names by paths relative to its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.subsets.churn import NamedConnections
from sluice.subsets.document.application import Document, read_application
from sluice.subsets.document.samples import read_samples
from sluice.subsets.document.solution import read_solution
from sluice.subsets.latency.samples import LatencySamples
from sluice.subsets.legal import IllegalSubsetsError


def load_application(path: Path) -> tuple[Document, Mapping[str, LatencySamples]]:
    """Reads an application and its latency samples.

    Raises:
        IllegalError: a file cannot be read, or its content is not legal.
    """
    document = read_application(_object(path))
    if not document.samples:
        return document, {}
    samples = path.parent / document.samples
    try:
        with samples.open(encoding="utf-8-sig", newline="") as source:
            return document, read_samples(source, str(samples))
    except (OSError, UnicodeDecodeError) as error:
        raise IllegalSubsetsError([f"latency.samples: cannot read {samples}: {_reason(error)}"]) from None


def load_solution(path: Path) -> NamedConnections:
    """Reads the connections of a solution.

    Raises:
        IllegalError: as above.
    """
    return read_solution(_object(path))


def _object(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise IllegalSubsetsError([f"cannot read the file: {_reason(error)}"]) from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise IllegalSubsetsError([f"the file is not JSON: {error}"]) from None
    if not isinstance(value, dict):
        raise IllegalSubsetsError(["the file is not a JSON object; legal: an object with hosts, services and roots"])
    return value


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
