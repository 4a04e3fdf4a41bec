"""What all of the log's Kafka clients have in common."""

import logging

# librdkafka's own words: what it cannot do is told by what is raised.
quiet = logging.getLogger(f"{__name__}.words")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
