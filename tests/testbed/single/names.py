"""Names of the parts of a service under test: random streams go by them, in both engines."""

SERVICE, DEPENDENCY = "service", "dependency"
OPERATION = "GET /"
POOL = "service.threads"


def place(position: int) -> str:
    """Of the step at a position of the operation."""
    return f"{OPERATION}/{position}"
