"""Libraries that estimators import only where they need them, so that callers who only ask for sizes do not wait for
them."""


def load() -> None:
    """Imports them all. Processes that estimate again and again call it at their start, not within a period."""
    import kneed  # noqa: F401
    import scipy.optimize
    import scipy.special  # noqa: F401
