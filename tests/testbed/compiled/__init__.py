"""What compiled engines are made of: heap, queue, CPU, random times, each bit for bit what the testbed's own does."""
