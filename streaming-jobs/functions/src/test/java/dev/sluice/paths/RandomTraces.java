package dev.sluice.paths;

import dev.sluice.traces.Place;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random traces with all that goes wrong in real ones: deep and wide, overlapping and touching,
 * overflowing, outside, skewed, orphaned, asynchronous, linked, of zero length, with several roots,
 * cyclic, with spans that are their own parents, and repeated ids. Times are small numbers, so that
 * ties are frequent.
 */
final class RandomTraces {
  private static final int LENGTH = 60;
  private static final int SKEW = 80;
  private static final int FIRST_START = 200;
  private static final int STRETCH = 1_000;

  private RandomTraces() {}

  static List<TraceSpan> of(long seed) {
    Random random = new Random(seed);
    int size = 1 + random.nextInt(random.nextInt(10) == 0 ? 200 : 30);
    int deep = random.nextInt(4); // 0: a chain, 3: wide
    boolean broken = random.nextInt(3) == 0;
    long[] start = new long[size];
    long[] end = new long[size];
    List<TraceSpan> spans = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      int parent =
          i == 0 ? -1 : deep == 0 ? i - 1 : deep == 3 ? random.nextInt(3) : random.nextInt(i);
      parent = Math.min(parent, i - 1);
      if (parent < 0) {
        start[i] = FIRST_START + random.nextInt(LENGTH);
        end[i] = start[i] + random.nextInt(2 * LENGTH);
      } else {
        long within = end[parent] - start[parent];
        start[i] = start[parent] + random.nextInt((int) within + 1);
        end[i] = start[i] + random.nextInt((int) Math.max(1, within));
        if (random.nextInt(6) == 0) {
          int skew = random.nextInt(SKEW) - SKEW / 2;
          start[i] = Math.max(0, start[i] + skew);
          end[i] = Math.max(start[i], end[i] + skew);
        }
      }
      long parentId = parent < 0 ? 0 : parent + 1;
      boolean linked = false;
      if (broken) {
        switch (random.nextInt(12)) {
          case 0 -> parentId = 1 + random.nextInt(size); // perhaps a ring
          case 1 -> parentId = i + 1;
          case 2 -> parentId = 1_000; // an orphan
          case 3 -> {
            parentId = 0;
            linked = random.nextBoolean();
          }
          default -> {}
        }
      }
      spans.add(
          Spans.span(
              broken && random.nextInt(15) == 0 ? 1 + random.nextInt(size) : i + 1,
              parentId,
              1 + random.nextInt(5),
              linked,
              start[i],
              broken && random.nextInt(20) == 0 ? start[i] - 1 : end[i],
              "s" + random.nextInt(4),
              random.nextInt(3) == 0 ? "" : "h" + random.nextInt(2)));
    }
    return random.nextBoolean() ? spans : stretched(spans, random);
  }

  /** Where two spans touched they may now overlap by so little that they are serial ones. */
  private static List<TraceSpan> stretched(List<TraceSpan> spans, Random random) {
    List<TraceSpan> stretched = new ArrayList<>();
    for (TraceSpan span : spans) {
      long start = span.startNs() * STRETCH + random.nextInt(STRETCH / 10);
      long end = span.endNs() * STRETCH + random.nextInt(STRETCH / 10);
      stretched.add(
          new TraceSpan(
              span.spanId(),
              span.parentId(),
              span.kind(),
              span.error(),
              span.linked(),
              start,
              end - start,
              span.service(),
              span.peer(),
              span.callee(),
              span.operation(),
              span.host(),
              span.instance(),
              0,
              Place.NONE));
    }
    return stretched;
  }
}
