"""`python -m sluice.control --config FILE`: the decider."""

if __name__ == "__main__":  # the processes that decide load this file too, and need nothing of what stands behind it
    from sluice.control.command import main

    main()
