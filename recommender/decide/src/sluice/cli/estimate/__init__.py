"""`sluice estimate`: an estimator on rows from any source."""
