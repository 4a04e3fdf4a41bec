"""`sluice reload`: running processes read their configuration files again."""
