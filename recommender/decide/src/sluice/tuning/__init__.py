"""Black-box tuning of configurations (Somashekar and Gandhi, EuroMLSys'21, doi:10.1145/3437984.3458828)."""
