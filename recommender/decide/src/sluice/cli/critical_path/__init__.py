"""`sluice critical-path`: recorded traces, walked by the same Java code as the streaming jobs use."""
