"""An application of several languages."""
