"""The logger of the journal's Kafka clients."""

import logging

# Discards librdkafka's own log lines: exceptions carry its errors.
quiet = logging.getLogger(f"{__name__}.words")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
