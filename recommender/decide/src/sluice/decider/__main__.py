"""`python -m sluice.decider --config FILE`: the decider."""

if __name__ == "__main__":  # the deciding processes import this file too, and need none of the rest
    import os

    from sluice.engine.cpus import cpus

    # NumPy's library starts a thread for each CPU of the machine, also for those that a container may not use.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(cpus()))
    from sluice.decider.command import main

    main()
