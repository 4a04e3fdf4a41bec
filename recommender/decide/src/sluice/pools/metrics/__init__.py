"""Sizes of pools from the metrics that agents send, for pools whose size no actuator reports."""
