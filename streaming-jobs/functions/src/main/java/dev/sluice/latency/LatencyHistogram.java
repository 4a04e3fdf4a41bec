package dev.sluice.latency;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.binary.BinaryArrayData;
import org.apache.flink.table.data.binary.BinaryMapData;

/**
 * Counts by {@link LatencyIndex}. Merging is addition, so any order and any grouping of the same
 * durations gives the same histogram. Counts may be negative: a duration that is taken back is
 * added with a negative count, and may come before the one that it takes back.
 *
 * <p>The counts are sparse and sorted at first. Once many of them stand close together, they are
 * dense: an array from the least index to the largest, to which a duration is added without a
 * search.
 *
 * <p>Encoded as pairs of varints: the distance from the previous index (the first from -1), then
 * the count in zigzag (0, -1, 1, -2, 2 are 0 to 4); entries of count 0 are left out. Empty is zero
 * bytes; typically 3 bytes an entry.
 */
public final class LatencyHistogram {
  /** Index before the first entry, the smallest possible one. */
  private static final int FIRST = -1;

  /** The index after the last: durations are below 2^63 ns. */
  private static final int END = 63 * LatencyIndex.PER_OCTAVE;

  private static final int SMALLEST = 4;

  /** Entries that are fewer than this part of the histogram are added one by one. */
  private static final int FEW = 8;

  /** Sparse counts become dense from this number on, */
  private static final int MANY = 32;

  /** if they then take at most this many places for each: 16 bytes instead of 6. */
  private static final int SPREAD = 4;

  // Sparse: the first `size` counts are those of the first `size` indexes, and `first` says
  // nothing.
  // Dense: no indexes; count i is that of index `first + i`, and `size` is the number of all.
  private short[] indexes = new short[SMALLEST];
  private int[] counts = new int[SMALLEST];
  private int size;
  private int first;

  /** Counts one duration, in ns. */
  public void record(long ns) {
    add(LatencyIndex.of(ns), 1);
  }

  /** Adds to one bucket. */
  public void add(int index, int count) {
    if (indexes == null) {
      if (index < first || index >= first + size) {
        widen(index);
      }
      counts[index - first] += count;
      return;
    }
    int at = Arrays.binarySearch(indexes, 0, size, (short) index);
    if (at >= 0) {
      counts[at] += count;
      return;
    }
    insert(-at - 1, index, count);
  }

  private void insert(int at, int index, int count) {
    if (size == indexes.length) {
      int low = Math.min(index, indexes[0]);
      int high = Math.max(index, indexes[size - 1]);
      if (size >= MANY && high - low < SPREAD * size) {
        makeDense();
        add(index, count);
        return;
      }
      indexes = Arrays.copyOf(indexes, 2 * size);
      counts = Arrays.copyOf(counts, 2 * size);
    }
    System.arraycopy(indexes, at, indexes, at + 1, size - at);
    System.arraycopy(counts, at, counts, at + 1, size - at);
    indexes[at] = (short) index;
    counts[at] = count;
    size++;
  }

  private void makeDense() {
    int[] dense = new int[indexes[size - 1] - indexes[0] + 1];
    first = indexes[0];
    for (int i = 0; i < size; i++) {
      dense[indexes[i] - first] = counts[i];
    }
    counts = dense;
    size = dense.length;
    indexes = null;
  }

  /** Makes room for an index, and half as much again on its side. */
  private void widen(int index) {
    int before = first;
    int end = first + size;
    if (index < first) {
      first = Math.max(FIRST, index - (end - index) / 2);
    } else {
      end = Math.min(END, index + 1 + (index - first) / 2);
    }
    int[] wider = new int[end - first];
    System.arraycopy(counts, 0, wider, before - first, size);
    counts = wider;
    size = wider.length;
  }

  private int indexAt(int i) {
    return indexes == null ? first + i : indexes[i];
  }

  /** Adds every bucket of another histogram. */
  public void merge(LatencyHistogram other) {
    if (other.indexes != null) {
      merge(other.indexes, other.counts, other.size);
      return;
    }
    for (int i = 0; i < other.size; i++) {
      if (other.counts[i] != 0) {
        add(other.first + i, other.counts[i]);
      }
    }
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
    if (indexes == null || size > FEW * otherSize) {
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

  /**
   * Number of pairs of varints in an encoding: each varint ends with its only byte that is not
   * negative.
   */
  private static int entries(byte[] encoded) {
    int ends = 0;
    for (byte b : encoded) {
      ends += b >= 0 ? 1 : 0;
    }
    return ends / 2;
  }

  /** The encoding of the class comment. */
  public byte[] encode() {
    byte[] out = new byte[8 * entries()];
    int position = 0;
    int previous = FIRST;
    for (int i = 0; i < size; i++) {
      if (counts[i] != 0) {
        position = putVarint(out, position, indexAt(i) - previous);
        position = putVarint(out, position, zigzag(counts[i]));
        previous = indexAt(i);
      }
    }
    return Arrays.copyOf(out, position);
  }

  private int entries() {
    int entries = 0;
    for (int i = 0; i < size; i++) {
      entries += counts[i] != 0 ? 1 : 0;
    }
    return entries;
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
        map.put((short) indexAt(i), counts[i]);
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
        keys[kept] = (short) indexAt(i);
        values[kept++] = counts[i];
      }
    }
    return BinaryMapData.valueOf(
        BinaryArrayData.fromPrimitiveArray(Arrays.copyOf(keys, kept)),
        BinaryArrayData.fromPrimitiveArray(Arrays.copyOf(values, kept)));
  }

  LatencyHistogram copy() {
    LatencyHistogram copy = new LatencyHistogram();
    copy.indexes = indexes == null ? null : indexes.clone();
    copy.counts = counts.clone();
    copy.size = size;
    copy.first = first;
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
