"""How far the clocks of instances are off, by how late their spans come into the log."""
