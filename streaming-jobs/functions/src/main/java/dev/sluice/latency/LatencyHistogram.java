package dev.sluice.latency;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.binary.BinaryArrayData;
import org.apache.flink.table.data.binary.BinaryMapData;

/**
 * Sparse counts by {@link LatencyIndex}, kept sorted. Merging is addition, so any order and any
 * grouping of the same durations gives the same histogram. Counts may be negative: a duration that
 * is taken back is added with a negative count, and may come before the one that it takes back.
 *
 * <p>Encoded as pairs of varints: the distance from the previous index (the first from -1), then
 * the count in zigzag (0, -1, 1, -2, 2 are 0 to 4); entries of count 0 are left out. Empty is zero
 * bytes; typically 3 bytes an entry.
 */
public final class LatencyHistogram {
  /** Index before the first entry, the smallest possible one. */
  private static final int FIRST = -1;

  private static final int SMALLEST = 4;

  /** Entries that are fewer than this part of the histogram are added one by one. */
  private static final int FEW = 8;

  private short[] indexes = new short[SMALLEST];
  private int[] counts = new int[SMALLEST];
  private int size;

  /** Counts one duration, in ns. */
  public void record(long ns) {
    add(LatencyIndex.of(ns), 1);
  }

  /** Adds to one bucket. */
  public void add(int index, int count) {
    int at = Arrays.binarySearch(indexes, 0, size, (short) index);
    if (at >= 0) {
      counts[at] += count;
      return;
    }
    insert(-at - 1, index, count);
  }

  private void insert(int at, int index, int count) {
    if (size == indexes.length) {
      indexes = Arrays.copyOf(indexes, 2 * size);
      counts = Arrays.copyOf(counts, 2 * size);
    }
    System.arraycopy(indexes, at, indexes, at + 1, size - at);
    System.arraycopy(counts, at, counts, at + 1, size - at);
    indexes[at] = (short) index;
    counts[at] = count;
    size++;
  }

  /** Adds every bucket of another histogram. */
  public void merge(LatencyHistogram other) {
    merge(other.indexes, other.counts, other.size);
  }

  /** Adds every bucket of an encoded histogram. */
  public void merge(byte[] encoded) {
    int entries = entries(encoded);
    short[] otherIndexes = new short[entries];
    int[] otherCounts = new int[entries];
    int index = FIRST;
    int position = 0;
    for (int i = 0; i < entries; i++) {
      long distance = varint(encoded, position);
      position += varintLength(distance);
      long count = varint(encoded, position);
      position += varintLength(count);
      index += (int) distance;
      otherIndexes[i] = (short) index;
      otherCounts[i] = unzigzag((int) count);
    }
    merge(otherIndexes, otherCounts, entries);
  }

  /** Adds sorted entries: a few one by one, many in one pass over both. */
  private void merge(short[] otherIndexes, int[] otherCounts, int otherSize) {
    if (size > FEW * otherSize) {
      for (int i = 0; i < otherSize; i++) {
        add(otherIndexes[i], otherCounts[i]);
      }
      return;
    }
    short[] mergedIndexes = new short[Math.max(size + otherSize, SMALLEST)];
    int[] mergedCounts = new int[mergedIndexes.length];
    int mine = 0;
    int theirs = 0;
    int merged = 0;
    while (mine < size || theirs < otherSize) {
      boolean takeMine =
          theirs == otherSize || mine < size && indexes[mine] <= otherIndexes[theirs];
      boolean takeTheirs =
          mine == size || theirs < otherSize && otherIndexes[theirs] <= indexes[mine];
      mergedIndexes[merged] = takeMine ? indexes[mine] : otherIndexes[theirs];
      mergedCounts[merged++] =
          (takeMine ? counts[mine++] : 0) + (takeTheirs ? otherCounts[theirs++] : 0);
    }
    indexes = mergedIndexes;
    counts = mergedCounts;
    size = merged;
  }

  /** Number of pairs of varints: each varint ends with its only byte that is not negative. */
  private static int entries(byte[] encoded) {
    int ends = 0;
    for (byte b : encoded) {
      ends += b >= 0 ? 1 : 0;
    }
    return ends / 2;
  }

  /** The encoding of the class comment. */
  public byte[] encode() {
    byte[] out = new byte[8 * size];
    int position = 0;
    int previous = FIRST;
    for (int i = 0; i < size; i++) {
      if (counts[i] != 0) {
        position = putVarint(out, position, indexes[i] - previous);
        position = putVarint(out, position, zigzag(counts[i]));
        previous = indexes[i];
      }
    }
    return Arrays.copyOf(out, position);
  }

  /** Number of durations: those added less those taken back. */
  public long total() {
    long total = 0;
    for (int i = 0; i < size; i++) {
      total += counts[i];
    }
    return total;
  }

  /** Index to count, ascending, without counts of 0. */
  public Map<Short, Integer> toMap() {
    Map<Short, Integer> map = new TreeMap<>();
    for (int i = 0; i < size; i++) {
      if (counts[i] != 0) {
        map.put(indexes[i], counts[i]);
      }
    }
    return map;
  }

  /**
   * Index to count, ascending, as Flink's MAP of SMALLINT to INT, without counts that are not
   * positive: a sum has them for a moment when a part that takes back comes before the one that it
   * takes back.
   */
  public MapData toMapData() {
    short[] keys = new short[size];
    int[] values = new int[size];
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (counts[i] > 0) {
        keys[kept] = indexes[i];
        values[kept++] = counts[i];
      }
    }
    return BinaryMapData.valueOf(
        BinaryArrayData.fromPrimitiveArray(Arrays.copyOf(keys, kept)),
        BinaryArrayData.fromPrimitiveArray(Arrays.copyOf(values, kept)));
  }

  LatencyHistogram copy() {
    LatencyHistogram copy = new LatencyHistogram();
    copy.indexes = indexes.clone();
    copy.counts = counts.clone();
    copy.size = size;
    return copy;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof LatencyHistogram that && toMap().equals(that.toMap());
  }

  @Override
  public int hashCode() {
    return toMap().hashCode();
  }

  @Override
  public String toString() {
    return toMap().toString();
  }

  private static int zigzag(int value) {
    return value << 1 ^ value >> 31;
  }

  private static int unzigzag(int value) {
    return value >>> 1 ^ -(value & 1);
  }

  private static int putVarint(byte[] out, int position, int value) {
    int rest = value;
    int at = position;
    while ((rest & ~0x7F) != 0) {
      out[at++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    out[at++] = (byte) rest;
    return at;
  }

  private static long varint(byte[] in, int position) {
    long value = 0;
    for (int shift = 0, at = position; ; shift += 7, at++) {
      value |= (long) (in[at] & 0x7F) << shift;
      if (in[at] >= 0) {
        return value;
      }
    }
  }

  private static int varintLength(long value) {
    return value == 0 ? 1 : (70 - Long.numberOfLeadingZeros(value)) / 7;
  }
}
