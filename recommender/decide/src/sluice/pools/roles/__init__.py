"""What the rules of streaming-jobs/spans.toml say of a pool's spans: left out, or served without a thread of a pool."""
