"""Builds the Grafana dashboards as JSON: `python -m generate`."""
