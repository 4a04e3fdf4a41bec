package dev.sluice.sampling;

import dev.sluice.latency.LatencyHistogram;

/**
 * The trace ids of some spans, as samplers by trace id compare them with a bound. Each comparison
 * is one number of 63 bits here; a sampler keeps ids whose number is below p x 2^63:
 *
 * <ul>
 *   <li>{@code most64}: the last 64 bits. Python; Go without the lowest bit.
 *   <li>{@code most63}: the last 63 bits. Java, Jaeger.
 *   <li>{@code most56}: 2^56 - 1 less the last 56 bits. Consistent sampling keeps the high ones.
 *   <li>{@code most32}: the four words of 32 bits, by exclusive or. JavaScript.
 *   <li>{@code mostHead}: the size of the first 64 bits as a signed number. .NET.
 * </ul>
 *
 * <p>Least numbers show ids that are not random there: with a time in front, or a UUID's variant.
 * The last bytes tell how many ids there are at least, whatever the spans of each.
 */
final class Ids {
  private static final long UNSIGNED_32 = 0xFFFF_FFFFL;
  private static final long LAST_56 = (1L << 56) - 1;

  private final int[] lastBytes = new int[1 << Byte.SIZE];
  private long most64;
  private long most63;
  private long most56;
  private long most32;
  private long mostHead;
  private long least64 = Long.MAX_VALUE;
  private long leastHead = Long.MAX_VALUE;

  /** Adds one id; its halves are big endian. */
  void add(long head, long tail) {
    long last64 = tail >>> 1;
    long words = (head >>> 32 ^ head ^ tail >>> 32 ^ tail) & UNSIGNED_32;
    long sizeOfHead = head == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(head);
    lastBytes[(int) (tail & 0xFF)]++;
    most64 = Math.max(most64, last64);
    most63 = Math.max(most63, tail & Long.MAX_VALUE);
    most56 = Math.max(most56, LAST_56 - (tail & LAST_56) << 7);
    most32 = Math.max(most32, words << 31);
    mostHead = Math.max(mostHead, sizeOfHead);
    least64 = Math.min(least64, last64);
    leastHead = Math.min(leastHead, sizeOfHead);
  }

  void merge(Ids other) {
    for (int i = 0; i < lastBytes.length; i++) {
      lastBytes[i] += other.lastBytes[i];
    }
    most64 = Math.max(most64, other.most64);
    most63 = Math.max(most63, other.most63);
    most56 = Math.max(most56, other.most56);
    most32 = Math.max(most32, other.most32);
    mostHead = Math.max(mostHead, other.mostHead);
    least64 = Math.min(least64, other.least64);
    leastHead = Math.min(leastHead, other.leastHead);
  }

  /** Spans by the last byte of their trace id. */
  LatencyHistogram lastBytes() {
    LatencyHistogram counts = new LatencyHistogram();
    for (int i = 0; i < lastBytes.length; i++) {
      if (lastBytes[i] > 0) {
        counts.add(i, lastBytes[i]);
      }
    }
    return counts;
  }

  /** In the order of the columns of {@code service_sampling}. */
  long[] bounds() {
    return new long[] {most64, most63, most56, most32, mostHead, least64, leastHead};
  }
}
