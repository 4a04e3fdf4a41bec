"""A shard in Kafka, as a decider has it: fencing, one transaction a period, takeover; topics, keys and bytes."""
