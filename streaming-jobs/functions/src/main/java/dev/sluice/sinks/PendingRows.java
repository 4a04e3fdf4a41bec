package dev.sluice.sinks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows that wait for a store, within bounds: of rows with the same key the newest. Beyond the
 * bounds the oldest are shed. Only the methods of {@link SinkStatus.Backlog} are thread-safe:
 * callers of the others hold this object's monitor.
 *
 * <p>A batch counts, and is part of {@link #all}, until it is {@link #done}.
 */
final class PendingRows implements SinkStatus.Backlog {
  private record Entry(Object[] row, long bytes, long sinceMs) {}

  // The size of a row beside its values: the entry, its key and the map's node.
  private static final int ROW_BYTES = 160;
  private static final int VALUE_BYTES = 24;
  private static final int STRING_BYTES = 56;

  private final int[] keyColumns;
  private final int orderColumn;
  private final BufferBounds bounds;
  private final Map<List<Object>, Entry> waiting = new LinkedHashMap<>();
  private List<Entry> inFlight = List.of();
  private long bytes;
  private long shed;

  /**
   * @param keyColumns positions of the columns that identify a row's subject
   * @param orderColumn position of a BIGINT: of two rows with the same key the one with the larger
   *     value is the newer; where it is equal, or -1, the later one
   */
  PendingRows(int[] keyColumns, int orderColumn, BufferBounds bounds) {
    this.keyColumns = keyColumns;
    this.orderColumn = orderColumn;
    this.bounds = bounds;
  }

  /** Adds a row, and sheds the oldest if there are then too many. */
  void put(Object[] row, long nowMs) {
    List<Object> key = key(row);
    Entry before = waiting.get(key);
    if (before != null && isOlder(row, before.row())) {
      return;
    }
    Entry entry = new Entry(row, bytesOf(row), before == null ? nowMs : before.sinceMs());
    // It keeps the place of the row before: a row that changes often must not wait for ever.
    waiting.put(key, entry);
    bytes += entry.bytes() - (before == null ? 0 : before.bytes());
    Iterator<Entry> oldest = waiting.values().iterator();
    while ((size() > bounds.maxRows() || bytes > bounds.maxBytes()) && oldest.hasNext()) {
      bytes -= oldest.next().bytes();
      oldest.remove();
      shed++;
    }
  }

  /**
   * The oldest waiting rows, up to {@code maxRows} and approximately {@code maxBytes}, at least
   * one.
   */
  List<Object[]> take(int maxRows, long maxBytes) {
    List<Entry> batch = new ArrayList<>();
    long batchBytes = 0;
    Iterator<Entry> oldest = waiting.values().iterator();
    while (oldest.hasNext() && batch.size() < maxRows) {
      Entry next = oldest.next();
      if (!batch.isEmpty() && batchBytes + next.bytes() > maxBytes) {
        break;
      }
      oldest.remove();
      batch.add(next);
      batchBytes += next.bytes();
    }
    inFlight = batch;
    return batch.stream().map(Entry::row).toList();
  }

  /** The store has the batch. */
  void done() {
    for (Entry entry : inFlight) {
      bytes -= entry.bytes();
    }
    inFlight = List.of();
  }

  /** Every row that is not written, in the order in which they came. */
  List<Object[]> all() {
    List<Object[]> rows = new ArrayList<>(size());
    inFlight.forEach(entry -> rows.add(entry.row()));
    waiting.values().forEach(entry -> rows.add(entry.row()));
    return rows;
  }

  @Override
  public synchronized long rows() {
    return size();
  }

  private int size() {
    return waiting.size() + inFlight.size();
  }

  /** Rows that are in no batch yet. */
  int waiting() {
    return waiting.size();
  }

  /** Estimated, on the heap. */
  long bytes() {
    return bytes;
  }

  @Override
  public synchronized long shed() {
    return shed;
  }

  @Override
  public synchronized long oldestSinceMs() {
    if (!inFlight.isEmpty()) {
      return inFlight.get(0).sinceMs();
    }
    return waiting.isEmpty() ? 0 : waiting.values().iterator().next().sinceMs();
  }

  private List<Object> key(Object[] row) {
    Object[] key = new Object[keyColumns.length];
    for (int i = 0; i < key.length; i++) {
      key[i] = row[keyColumns[i]];
    }
    return Arrays.asList(key);
  }

  private boolean isOlder(Object[] row, Object[] than) {
    return orderColumn >= 0 && (long) row[orderColumn] < (long) than[orderColumn];
  }

  private static long bytesOf(Object[] row) {
    long sum = ROW_BYTES;
    for (Object value : row) {
      sum += value instanceof String text ? STRING_BYTES + text.length() : VALUE_BYTES;
    }
    return sum;
  }
}
