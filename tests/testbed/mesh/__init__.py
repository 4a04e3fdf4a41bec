"""Applications of many containers on shared hosts, which call each other over given connections; compiled by Numba.

It judges connection subsets: it takes an application and a solution in the JSON of ``./sluice subsets solve``, and
shares no code and no latency model with what solves them.
"""
