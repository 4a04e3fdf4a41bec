"""What strategies of connection subsets are worth, judged by the testbed's mesh, which is nobody's model."""
