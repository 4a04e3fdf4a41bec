"""Which downstream containers each upstream container is connected to, and with what share of its calls."""
