"""`sluice critical-path`: walks recorded traces with the Java code of the streaming jobs."""
