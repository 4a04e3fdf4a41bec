"""What compiled engines are made of: heap, queue, CPU and random times, each bit for bit what the testbed's own does."""
