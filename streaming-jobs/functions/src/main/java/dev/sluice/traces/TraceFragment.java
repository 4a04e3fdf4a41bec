package dev.sluice.traces;

import java.util.Comparator;

/**
 * The spans that one message holds of one trace, on the way to where the trace is assembled, and
 * where the message stands in the log.
 *
 * @param traceId its 16 bytes
 * @param recordMs when the broker appended the message, ms of the Unix epoch
 * @param partition of the topic
 * @param offset in the partition
 * @param size number of spans
 * @param spans an encoded {@link Fragment}
 */
public record TraceFragment(
    byte[] traceId, long recordMs, int partition, long offset, int size, byte[] spans) {
  /** The order of the log: whatever was read first. */
  static final Comparator<TraceFragment> IN_LOG =
      Comparator.comparingLong(TraceFragment::recordMs)
          .thenComparingInt(TraceFragment::partition)
          .thenComparingLong(TraceFragment::offset);
}
