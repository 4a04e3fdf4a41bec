"""The one error type that the command line prints instead of a traceback."""


class MigrateError(Exception):
    """A schema could not be read or applied; the message names the file and, where there is one, the statement."""
