package dev.sluice.traces;

import java.util.Comparator;
import java.util.List;

/**
 * The spans of one trace in one message, and the message's position in the log.
 *
 * @param traceId of all its spans
 * @param recordMs when the broker appended the message, ms of the Unix epoch
 * @param partition of the topic
 * @param offset in the partition
 * @param spans in the order of the message; never changed
 */
public record TraceFragment(
    TraceId traceId, long recordMs, int partition, long offset, List<TraceSpan> spans) {
  /** The order of the log, whatever was read first. */
  static final Comparator<TraceFragment> IN_LOG =
      (a, b) -> {
        int byTime = Long.compare(a.recordMs, b.recordMs);
        int byPartition = byTime != 0 ? byTime : Integer.compare(a.partition, b.partition);
        return byPartition != 0 ? byPartition : Long.compare(a.offset, b.offset);
      };
}
