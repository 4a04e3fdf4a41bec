"""A decider's shards in Kafka: fencing, one transaction a period, takeover; topics, keys and bytes."""
