"""Load on a real application, in real time."""
