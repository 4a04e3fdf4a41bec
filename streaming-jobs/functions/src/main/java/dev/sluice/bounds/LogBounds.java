package dev.sluice.bounds;

import dev.sluice.accounting.SpanBounds;
import dev.sluice.otlp.Span;
import dev.sluice.windows.Spread;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Bounds of the names and rows that the topic's messages may bring. Each partition has its own,
 * which depend only on its record times and its order: so reading the topic again gives the same
 * decisions, whichever partition is read first. Each task has its own, too: with another
 * parallelism other names count separately, as long as there are too many.
 */
public final class LogBounds implements SpanBounds {
  private final Limits limits;
  private final Spread spread;
  private final boolean withOperations;
  private final Map<Integer, PartitionBounds> partitions = new HashMap<>();
  private PartitionBounds current;

  /**
   * @param withOperations whether a job needs operations
   */
  public LogBounds(Limits limits, Spread spread, boolean withOperations) {
    this.limits = limits;
    this.spread = spread;
    this.withOperations = withOperations;
  }

  /** The next message is of this partition, and was appended at this time. */
  public void at(int partition, long recordMs) {
    current = of(partition);
    current.advance(recordMs);
  }

  private PartitionBounds of(int partition) {
    return partitions.computeIfAbsent(partition, absent -> new PartitionBounds(limits));
  }

  @Override
  public boolean rename(Span span) {
    return current.rename(span, withOperations);
  }

  @Override
  public void shorten(Span span) {
    if (span.isServerSide() || span.isClientSide()) {
      long rows = spread.touched(span.startNs(), span.endNs());
      if (rows > Spread.SHORT && !current.takeRows(rows)) {
        span.shorten();
      }
    }
  }

  /**
   * The name of a span that {@link #rename} has processed, or that of the rest; also for spans that
   * enter no service.
   */
  public String operationOf(Span span) {
    return current.operationOf(span);
  }

  /** All names and counts, for {@link #restore}. */
  public byte[] snapshot() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (Map.Entry<Integer, PartitionBounds> partition : partitions.entrySet()) {
        out.writeInt(partition.getKey());
        partition.getValue().write(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("write bounds to memory", e);
    }
    return bytes.toByteArray();
  }

  /** Adds a snapshot. */
  public void restore(byte[] snapshot) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(snapshot))) {
      while (in.available() > 0) {
        of(in.readInt()).read(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("read bounds from memory", e);
    }
  }
}
