"""Services whose spans do not count what their pool holds, after public reports of bugs, with a control beside each.

    python -m testbed.patterns nested --minutes 12             # Sluice sizes the pool: a table, a row a minute
    python -m testbed.patterns --list

| file | holds |
|---|---|
| `process.py` | requests as generators on the testbed's engine: they wait, or acquire a slot |
| `span.py` | one finished span of any kind, with its parent and attributes |
| `pattern.py` | a service with one pool that can be resized, its users, and what they get |
| `servers.py`, `clients.py`, `chains.py` | of threads, of connections, of what lies behind or before a pool |
| `counting.py`, `windows.py` | which spans count for a pool, and its buckets as a reader knows them at a time |

What sizes them is outside: `bench.patterns` has Sluice's own loop. Same seed, same users: each draws from a stream of
its own, so that a run with another size has the same requests.
"""
