"""What others do, each from its public description, to be compared with. One file each, under `strategy.Strategy`."""
