"""What tuning trials are measured by."""
