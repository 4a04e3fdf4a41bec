"""Whether the spans of a service are a sample: by what they say, by their trace ids, and by metrics of requests."""
