"""Spans, traces and messages, and what sends them."""
