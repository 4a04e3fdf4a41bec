package dev.sluice.traces;

import dev.sluice.otlp.Span;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The service that answers what a service sends to an address, as closed traces show.
 *
 * <p>A client span that names no service would count under its address until its trace is closed,
 * seconds later, and then move ({@link Corrections}). Under a known callee it counts at once. Where
 * the trace shows another one, or none, it moves all the same: so the sums are equal in the end,
 * whatever is known here. It is no state: a job that is restored learns it again.
 *
 * <p>A callee is known while it answers a share of {@value #KNOWN} of the calls, the newest with a
 * weight of 1/64. Worked: after 191 calls in a row to one service the share is 1 - (63/64)^191 =
 * 0.9506. Three calls to others after thousands leave 0.953, the fourth 0.938. An address of a
 * proxy with several services behind it has no callee.
 *
 * <p>Any thread may call it: tasks that read and tasks that close traces of one job share it.
 */
public final class Callees {
  static final double KNOWN = 0.95;
  private static final double NEWEST = 1.0 / 64;

  /** From this share on one more call to the same service changes nothing. */
  private static final double SETTLED = 0.999;

  /** Addresses; those of pods come and go, so beyond this all are learned again. */
  static final int MOST = 10_000;

  private static final Map<String, WeakReference<Callees>> OF_JOBS = new ConcurrentHashMap<>();

  private record Address(String service, String address) {}

  private record Answered(String callee, double share) {
    Answered after(String next) {
      if (next.equals(callee)) {
        return new Answered(callee, share + NEWEST * (1 - share));
      }
      boolean another = share < 0.5 && !next.isEmpty();
      return another ? new Answered(next, NEWEST) : new Answered(callee, share * (1 - NEWEST));
    }
  }

  private final Map<Address, Answered> answered = new ConcurrentHashMap<>();

  /** Those of a job, for all its tasks in this process, while one of them holds it. */
  public static Callees ofJob(String id) {
    Callees[] found = new Callees[1];
    OF_JOBS.compute(
        id,
        (job, held) -> {
          found[0] = held == null ? null : held.get();
          if (found[0] != null) {
            return held;
          }
          found[0] = new Callees();
          return new WeakReference<>(found[0]);
        });
    OF_JOBS.values().removeIf(held -> held.refersTo(null));
    return found[0];
  }

  /** Counts a client span that names no service under its callee, where that is known. */
  public void apply(Span span) {
    if (span.isClientSide() && !span.isPeerNamed()) {
      Answered of = answered.get(new Address(span.service(), span.peer()));
      if (of != null && of.share >= KNOWN) {
        span.answeredBy(of.callee);
      }
    }
  }

  /**
   * A closed trace shows who answered a call.
   *
   * @param callee "" where no span of it came
   */
  public void add(String service, String address, String callee) {
    Address to = new Address(service, address);
    Answered of = answered.get(to);
    if (of == null) {
      if (callee.isEmpty()) {
        return;
      }
      if (answered.size() >= MOST) {
        answered.clear();
      }
      answered.putIfAbsent(to, new Answered(callee, NEWEST));
    } else if (of.share < SETTLED || !of.callee.equals(callee)) {
      answered.computeIfPresent(to, (key, now) -> now.after(callee));
    }
  }
}
