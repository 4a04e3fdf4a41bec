"""The measurements of tuning trials."""
