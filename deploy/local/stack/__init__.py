"""The local stack: sets up, starts, watches and stops every process of Sluice on one machine.

Standard library only (Python 3.11): it runs before any virtual environment exists.
"""
