package dev.sluice.paths;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Splits a critical path over services: processing time of each, and of everything upstream of it.
 *
 * <p>{@code upstream(s) = sum of PT(u)} over the services u that the calls from the root down to s
 * lead through, each once: Sora's sum of PT over services 0 to i - 1 (section 3.2, equation 3),
 * where the path is a chain. Where s is called from several places on the path, the largest counts,
 * so that a deadline reduced by it holds for every call. Calls of s that itself is above of belong
 * to its own work, and do not count: frontend, orders, frontend: upstream of frontend is 0.
 *
 * <p>Worked example: frontend [0, 100) calls search [10, 60), which calls geo [20, 50), and then
 * profile [70, 90). PT: frontend 10 + 10 + 10 = 30, search 10 + 10 = 20, geo 30, profile 20.
 * Upstream: frontend 0, search 30, geo 30 + 20 = 50, profile 30.
 */
public final class ServiceTimes {
  private static final class Sums {
    private long selfNs;
    private long upstreamNs;
    private int above;
  }

  private ServiceTimes() {}

  /** The services on the path, in the order in which the request first reaches them. */
  public static List<ServiceTime> of(CriticalPath path) {
    Map<String, Sums> services = new LinkedHashMap<>();
    for (PathSpan span : path.spans()) {
      services.computeIfAbsent(span.span().service(), name -> new Sums()).selfNs += span.selfNs();
    }
    List<Sums> stack = new ArrayList<>();
    long upstreamNs = 0;
    for (PathSpan span : path.spans()) {
      while (stack.size() > span.depth()) {
        Sums left = stack.remove(stack.size() - 1);
        upstreamNs -= --left.above == 0 ? left.selfNs : 0;
      }
      Sums sums = services.get(span.span().service());
      if (sums.above++ == 0) {
        sums.upstreamNs = Math.max(sums.upstreamNs, upstreamNs);
        upstreamNs += sums.selfNs;
      }
      stack.add(sums);
    }
    List<ServiceTime> times = new ArrayList<>(services.size());
    services.forEach(
        (name, sums) -> times.add(new ServiceTime(name, sums.selfNs, sums.upstreamNs)));
    return times;
  }
}
