"""How well latencies of containers and pairs are predicted (Microns 7.3, tables 2 to 4)."""
