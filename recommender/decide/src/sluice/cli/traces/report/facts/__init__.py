"""What a span is, apart from its ids and times: service, peer, error, use."""
