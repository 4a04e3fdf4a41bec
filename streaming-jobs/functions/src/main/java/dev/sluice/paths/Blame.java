package dev.sluice.paths;

import java.util.List;

/**
 * Counts each wait for a thread for the services that held the threads (blame shifting, as for
 * locks: Tallent, Mellor-Crummey, Porterfield, PPoPP 2010).
 *
 * <p>A thread is held from the start of its SERVER span to its end, whichever service works
 * meanwhile. Where frontend calls orders, which calls a slow cart, the threads of orders run out,
 * and the wait shows before orders. So this class divides the wait before a SERVER span over the
 * services that this span waited for, itself included, in proportion to their parts in its length:
 * as if the requests before it in the queue had spent their time as it did.
 *
 * <p>The part of a span is its time on the path, less the waits behind its calls, times {@code
 * (length + wait) / length} of each SERVER span above it, and of itself. A SERVER span of zero
 * length gets its whole wait itself. Parts are cut to whole nanoseconds so that they sum to the
 * root's duration: each service ends where the sum up to it does, rounded down.
 *
 * <p>Worked example: frontend [0, 100), its CLIENT span [10, 95) to orders, whose SERVER span is
 * [50, 95): a wait of 40. In there the CLIENT span [55, 90) to cart, whose SERVER span is [60, 90):
 * a wait of 5. Times on the path: frontend 10 + 40 + 5 = 55, orders 5 + 5 + 5 = 15, cart 30. In the
 * 45 of orders: orders 15 - 5 = 10, cart 30 + 5 = 35, each times (45 + 40) / 45. Blame: frontend 55
 * - 40 = 15, orders 18.9, cart 66.1; in whole numbers 15, 18 and 67.
 */
final class Blame {
  private Blame() {}

  /**
   * The blame of each service, in ns.
   *
   * @param spans of a path, in its order
   * @param service the number of each span's service, in the order in which they are reached
   * @param services number of services
   */
  static long[] of(List<PathSpan> spans, int[] service, int services) {
    long[] own = own(spans);
    double[] factor = new double[own.length + 1];
    double[] parts = new double[services];
    factor[0] = 1;
    for (int i = 0; i < own.length; i++) {
      PathSpan span = spans.get(i);
      double above = factor[span.depth()];
      if (span.lengthNs() == 0) {
        factor[span.depth() + 1] = above;
        parts[service[i]] += span.waitNs() * above;
      } else {
        double stretch = (double) (span.lengthNs() + span.waitNs()) / span.lengthNs();
        factor[span.depth() + 1] = above * stretch;
        parts[service[i]] += own[i] * (above * stretch);
      }
    }
    return whole(parts, spans.get(0).lengthNs());
  }

  /** Time of each span on the path, less the waits behind its calls. */
  private static long[] own(List<PathSpan> spans) {
    long[] own = new long[spans.size()];
    int[] line = new int[spans.size()];
    for (int i = 0; i < own.length; i++) {
      PathSpan span = spans.get(i);
      line[span.depth()] = i;
      own[i] = span.selfNs();
      if (span.waitNs() > 0) {
        own[line[span.depth() - 1]] -= span.waitNs();
      }
    }
    return own;
  }

  private static long[] whole(double[] parts, long sumNs) {
    long[] whole = new long[parts.length];
    double sum = 0;
    long assigned = 0;
    for (int i = 0; i < parts.length; i++) {
      sum += parts[i];
      long end = i == parts.length - 1 ? sumNs : Math.min(sumNs, (long) sum);
      whole[i] = end - assigned;
      assigned = end;
    }
    return whole;
  }
}
