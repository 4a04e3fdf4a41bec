"""Clock offsets of instances, estimated from the times at which their spans arrive in the journal."""
