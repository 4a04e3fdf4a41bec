"""What compiled engines are made of: heap, queue, CPU, random times; each does what the plain one does, bit for bit."""
