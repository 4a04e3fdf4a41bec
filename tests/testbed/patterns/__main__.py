"""What `python -m testbed.patterns` runs: Sluice beside the operator's own size."""

from bench.patterns.command import main

if __name__ == "__main__":
    main()
