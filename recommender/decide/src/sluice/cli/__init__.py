"""The command line, `./sluice`: query pool sizes, replay recorded traces, run SQL, check the stages."""

__version__ = "0.1.0"
