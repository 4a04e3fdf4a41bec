"""One bounded service under a closed loop of users: scenario files, and a compiled engine for them.

A scenario (``scenario.py``) is a file of YAML that anyone can write. ``run.FastRun`` runs it::

    run = FastRun(load(Path("example.yaml")), seed=1)
    run.until(60.0)                                # events of the file and the scaler happen inside
    seen = run.windows(0.0, 60.0, 100, 250.0)      # testbed.fine.PoolWindows: 100 ms buckets, a threshold of 250 ms
    run.resize(12)                                 # in force at once; shrinking lets running work finish
    run.until(61.0)
    at_s, latency_s = run.outcomes()               # of each response: when, and how long; infinite where it failed

A request arrives at the queue, takes a thread, computes, holds the lock (law ``convoy``), waits, calls the dependency
(where it has slots), gives the thread back. Its own span goes from the thread's taking to its end; the span that judges
it from the arrival to that end, as the caller sees it; there is no network between, so a user sees the same.
"""
