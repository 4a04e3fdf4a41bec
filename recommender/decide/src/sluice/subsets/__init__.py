"""Connection subsets: which downstream containers each upstream container connects to, and with which weights."""
