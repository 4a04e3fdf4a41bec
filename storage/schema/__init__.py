"""The tables that streaming jobs write, and what Flink has to know of them: `python -m schema` writes that."""
