"""Control periods of 10,000 pools in one decider, beside the bar of 5 s: from windows in memory, and from ClickHouse.

Sizes of all pools are reported in each period and stay as they are, whatever is decided; windows go on. The first
period reads and learns all that there is, the later ones what came in 5 s. The journal is a real broker's. Then another
decider takes over, with the states as they were recorded after the first period: it reads all that there is, and takes
up half of the pools in its first period, with what came since, and the others in the second.

Each of the two is in a process of its own, which is a decider's but for the broker's client that reports the sizes.
"""
