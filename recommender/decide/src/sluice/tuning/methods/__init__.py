"""Search methods: which configuration to try next. One method per file, each a pure function of the trials so far."""
