"""One finding about the quality of a recording."""

from dataclasses import dataclass


@dataclass(frozen=True)
class QualityFinding:
    """code: stable. spans: how many it concerns; None where it is not about spans. remedy: "" where none is needed."""

    code: str
    text: str
    remedy: str = ""
    spans: int | None = None
