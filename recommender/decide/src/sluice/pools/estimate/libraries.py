"""The libraries that estimators import where they need them, so that who only asks for sizes does not wait for them."""


def load() -> None:
    """Imports them all: for processes that estimate again and again, at their start and not within a period."""
    import kneed  # noqa: F401
    import scipy.optimize
    import scipy.special  # noqa: F401
