"""Inputs of operators and actuators: sizes read back, occupancy, pauses, scaling."""
