"""`python -m sluice.decider --config FILE`: the decider."""

if __name__ == "__main__":  # the deciding processes import this file too, and need none of the rest
    from sluice.decider.command import main

    main()
