"""Commands on traces: critical paths, critical services, and replay."""
