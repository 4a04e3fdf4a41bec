"""Sizes of soft resources: the estimators, the decision, the guard."""
