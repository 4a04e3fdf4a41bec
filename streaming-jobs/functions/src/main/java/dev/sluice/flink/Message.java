package dev.sluice.flink;

import dev.sluice.accounting.OutcomeCounts;

/**
 * One record of the topic of spans, undecoded.
 *
 * @param bytes an ExportTraceServiceRequest; null for a tombstone
 * @param recordMs when the broker appended it, ms of the Unix epoch
 * @param hashHigh first half of the hash of its bytes; 0 where repeats are not detected
 * @param hashLow second half
 * @param repeated whether the same bytes came before; its spans then only count, as {@link
 *     OutcomeCounts} describes
 */
public record Message(
    byte[] bytes,
    long recordMs,
    int partition,
    long offset,
    long hashHigh,
    long hashLow,
    boolean repeated) {
  Message asRepeated() {
    return new Message(bytes, recordMs, partition, offset, hashHigh, hashLow, true);
  }
}
