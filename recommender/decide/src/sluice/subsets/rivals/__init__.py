"""Strategies of others, each from its public description, to compare with. One file each, with the interface
`strategy.Rival`."""
