"""`python -m bench.loop_scale SOURCE POOLS`: rows of the table, as JSON, in the last line that it prints."""

if __name__ == "__main__":  # the processes that decide import this
    import json
    import sys

    from bench.loop_scale.sources import SOURCES

    print(json.dumps(SOURCES[sys.argv[1]](int(sys.argv[2]))))
