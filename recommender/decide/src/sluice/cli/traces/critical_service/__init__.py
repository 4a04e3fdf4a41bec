"""The command `sluice critical-service`."""
