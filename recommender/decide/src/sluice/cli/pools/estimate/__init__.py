"""`sluice estimate`: runs an estimator on rows from any source."""
