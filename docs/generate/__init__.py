"""Reference pages from their sources: `python -m docs.generate` writes docs/reference."""
