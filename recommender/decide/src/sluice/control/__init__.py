"""One control period: what is collected, decided, kept and published, in this order."""
