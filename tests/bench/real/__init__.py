"""An application of several languages under six real series of rates and two steps, sized by several methods."""
