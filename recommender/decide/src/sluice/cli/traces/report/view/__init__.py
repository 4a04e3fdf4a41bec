"""The report as JSON, text, and an HTML page."""
