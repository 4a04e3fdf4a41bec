"""Decides the sizes of soft resources: the evidence, the estimators, the decision, the guard."""
