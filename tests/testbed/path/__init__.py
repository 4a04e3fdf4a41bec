"""Two pools on one path: callers with threads and connections, which a callee shares; compiled as ``single`` is.

users -> (front: [threads] compute ->) caller, 1 to n: [threads] compute -> [connections] -> callee: compute, wait

A request goes to the replicas by turns, takes a thread there, computes, takes one of the replica's connections, and
holds both while the callee computes and waits. The sizes are per replica; one that is removed gets no more requests and
finishes those it has. Replicas come and go at given times, or by a scaler of their CPU::

    run = PathRun(scenario, seed=1)
    run.until(60.0)
    seen = run.windows(THREADS, 0.0, 60.0, 100, 250.0)
    run.resize(CONNECTIONS, 12)
"""
