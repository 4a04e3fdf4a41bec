package dev.sluice.sizes;

import dev.sluice.windows.Windowed;

/**
 * Rows and bytes of the spans of one point that ended in one window. They are sums of whole
 * numbers, so the same in any order and grouping.
 *
 * <p>Example: a span of 12 rows, one of 300 bytes, and one of 8 rows and 100 bytes: 2 spans have 20
 * rows, and 2 have 400 bytes; the mean of the spans with a number is 10 rows and 200 bytes.
 *
 * <p>No overflow: a span adds at most 2^40 rows and 2^41 bytes, and 2^63 / 2^41 = 4.2 million spans
 * of 2 TiB fit.
 */
public final class DataSize implements Windowed<DataSize> {
  private final long windowMs;
  private long rowSpans;
  private long rowSum;
  private long byteSpans;
  private long byteSum;

  DataSize(long windowMs) {
    this.windowMs = windowMs;
  }

  /** Adds one span; -1 where it has no number. */
  void add(long rows, long bytes) {
    if (rows >= 0) {
      rowSpans++;
      rowSum += rows;
    }
    if (bytes >= 0) {
      byteSpans++;
      byteSum += bytes;
    }
  }

  @Override
  public void merge(DataSize other) {
    rowSpans += other.rowSpans;
    rowSum += other.rowSum;
    byteSpans += other.byteSpans;
    byteSum += other.byteSum;
  }

  @Override
  public long windowMs() {
    return windowMs;
  }

  /** Spans with a number of rows. */
  public long rowSpans() {
    return rowSpans;
  }

  /** Their rows. */
  public long rowSum() {
    return rowSum;
  }

  /** Spans with a number of bytes. */
  public long byteSpans() {
    return byteSpans;
  }

  /** Their bytes, of request and response. */
  public long byteSum() {
    return byteSum;
  }
}
