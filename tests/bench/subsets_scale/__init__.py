"""How long it takes to solve large applications, beside the paper's algorithms as they are written down."""
