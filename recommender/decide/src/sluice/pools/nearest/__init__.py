"""The pools and instances that spans show, for pools of the configuration that fit none of them."""
