package dev.sluice.paths;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits a critical path over services: processing time of each, and of everything upstream of it.
 *
 * <p>{@code upstream(s) = sum of PT(u)} over the services u on the chain of calls from the root
 * down to s, each once: Sora's sum of PT over services 0 to i - 1 (section 3.2, equation 3), where
 * the path is a chain. If several places on the path call s, the largest sum counts, so that a
 * deadline reduced by it holds for every call. If s is above itself, the calls in between are its
 * own work, and do not count: frontend, orders, frontend: upstream of frontend is 0.
 *
 * <p>Worked example: frontend [0, 100) calls search [10, 60), which calls geo [20, 50), and then
 * profile [70, 90). PT: frontend 10 + 10 + 10 = 30, search 10 + 10 = 20, geo 30, profile 20.
 * Upstream: frontend 0, search 30, geo 30 + 20 = 50, profile 30.
 *
 * <p>A wait for a thread ({@link PathSpan#waitNs}) counts for the caller in PT and upstream, and
 * for the owner of the threads in callUpstream. In the example of {@link Blame} PT is frontend 55,
 * orders 15, cart 30; with the waits of 40 and 5 moved to the owners of the threads frontend 15,
 * orders 15 + 40 - 5 = 50, cart 35. Upstream of cart is 55 + 15 = 70, callUpstream 15 + 50 = 65:
 * the wait before cart is no longer above it, that before orders still is.
 */
public final class ServiceTimes {
  private static final class Sums {
    private final int number;
    private long selfNs;
    private long waitNs;
    // PT with each wait moved from the caller to the owner of the threads.
    private long residenceNs;
    private long upstreamNs;
    private long callUpstreamNs;
    private int above;

    Sums(int number) {
      this.number = number;
    }
  }

  private ServiceTimes() {}

  /** The services on the path, in the order in which the request first reaches them. */
  public static List<ServiceTime> of(CriticalPath path) {
    List<PathSpan> spans = path.spans();
    Map<String, Sums> services = new LinkedHashMap<>();
    Sums[] sumsOf = new Sums[spans.size()];
    int[] number = new int[sumsOf.length];
    for (int i = 0; i < sumsOf.length; i++) {
      String service = spans.get(i).span().service();
      sumsOf[i] = services.computeIfAbsent(service, name -> new Sums(services.size()));
      number[i] = sumsOf[i].number;
    }
    sumOwn(spans, sumsOf);
    sumUpstream(spans, sumsOf);
    long[] blame = Blame.of(spans, number, services.size());
    List<ServiceTime> times = new ArrayList<>(services.size());
    services.forEach(
        (name, sums) ->
            times.add(
                new ServiceTime(
                    name,
                    sums.selfNs,
                    sums.upstreamNs,
                    sums.callUpstreamNs,
                    sums.waitNs,
                    blame[sums.number])));
    return times;
  }

  private static void sumOwn(List<PathSpan> spans, Sums[] sumsOf) {
    Sums[] line = new Sums[sumsOf.length];
    for (int i = 0; i < sumsOf.length; i++) {
      PathSpan span = spans.get(i);
      line[span.depth()] = sumsOf[i];
      sumsOf[i].selfNs += span.selfNs();
      sumsOf[i].residenceNs += span.selfNs();
      if (span.waitNs() > 0) {
        sumsOf[i].waitNs += span.waitNs();
        sumsOf[i].residenceNs += span.waitNs();
        line[span.depth() - 1].residenceNs -= span.waitNs();
      }
    }
  }

  private static void sumUpstream(List<PathSpan> spans, Sums[] sumsOf) {
    List<Sums> stack = new ArrayList<>();
    long upstreamNs = 0;
    long callUpstreamNs = 0;
    for (int i = 0; i < sumsOf.length; i++) {
      while (stack.size() > spans.get(i).depth()) {
        Sums left = stack.remove(stack.size() - 1);
        if (--left.above == 0) {
          upstreamNs -= left.selfNs;
          callUpstreamNs -= left.residenceNs;
        }
      }
      Sums sums = sumsOf[i];
      if (sums.above++ == 0) {
        sums.upstreamNs = Math.max(sums.upstreamNs, upstreamNs);
        sums.callUpstreamNs = Math.max(sums.callUpstreamNs, callUpstreamNs);
        upstreamNs += sums.selfNs;
        callUpstreamNs += sums.residenceNs;
      }
      stack.add(sums);
    }
  }
}
