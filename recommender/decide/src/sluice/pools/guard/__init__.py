"""Constraints on a pool from outside it: bounds, its backend's capacity, quiet hours, pauses, and turns for looks."""
