"""Stand-ins that answer as a test wants: servers of an API, Grafana's macros."""
