package dev.sluice.windows;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** The partial rows of one resource point by number of bucket. */
final class Buckets {
  private final Map<Long, Partial> all = new HashMap<>();
  // Spans of one message end close together: most need the same bucket as the span before.
  private long lastBucket;
  private Partial last;

  /** Null where there is no row yet. */
  Partial get(long bucket) {
    if (last == null || bucket != lastBucket) {
      last = all.get(bucket);
      lastBucket = bucket;
    }
    return last;
  }

  void put(long bucket, Partial partial) {
    all.put(bucket, partial);
    lastBucket = bucket;
    last = partial;
  }

  Collection<Partial> values() {
    return all.values();
  }
}
