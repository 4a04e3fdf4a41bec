"""The critical services of root operations, published continuously (Sora 3.2; estimate/critical.py)."""
