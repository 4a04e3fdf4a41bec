package dev.sluice.samples;

import dev.sluice.otlp.Span;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import dev.sluice.windows.WindowSums;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A container's own time for each of its requests: its SERVER span less the time in which it waited
 * for others. Unlike the lengths of whole spans, these times add up along a call tree, as Microns
 * adds the latencies of pairs (section 5.4).
 *
 * <p>The waiting time is the union of the intervals of the calls below the span, clipped to it. A
 * call is a CLIENT or PRODUCER span; where there is none, a SERVER span, or the first span of
 * another service. Calls are searched below INTERNAL spans, and not below other calls. No span
 * waits for CONSUMER spans.
 *
 * <p>Worked example: a SERVER span [0, 100) ms with CLIENT spans [10, 40) and [30, 60), and one of
 * [90, 120) below an INTERNAL span, waits for [10, 60) and [90, 100): its own time is 40 ms.
 *
 * <p>A time below 1 us counts as 1 us: span clocks often have a resolution of 1 ms, and the
 * logarithm of a time that they round to 0 would outweigh all others.
 */
public final class OwnTimes {
  private static final long LEAST_NS = 1_000;

  private OwnTimes() {}

  /**
   * Adds the samples of a trace to those of others.
   *
   * @param windowMs length of a window; a request belongs to that of its end
   */
  public static void add(Trace trace, long windowMs, WindowSums<Site, Sample> sums) {
    int[] stack = new int[trace.size()];
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      if (span.kind() == Span.SERVER) {
        sums.at(
                new Site(span.service(), span.instance(), span.host()),
                span.windowMs(windowMs),
                Sample::new)
            .add(Math.max(LEAST_NS, ownNs(span, waits(trace, number, stack))), span.error());
      }
    }
  }

  private static long ownNs(TraceSpan entry, List<TraceSpan> waits) {
    if (waits.size() > 1) {
      waits.sort(Comparator.comparingLong(TraceSpan::startNs));
    }
    long own = entry.durationNs();
    long until = entry.startNs();
    for (TraceSpan wait : waits) {
      long start = Math.max(wait.startNs(), until);
      long end = Math.min(wait.endNs(), entry.endNs());
      if (end > start) {
        own -= end - start;
        until = end;
      }
    }
    return own;
  }

  /**
   * The calls below an entry. Each span is below one entry only, so that all entries of a trace
   * take linear time.
   *
   * @param stack as long as the trace; its contents are lost
   */
  private static List<TraceSpan> waits(Trace trace, int entry, int[] stack) {
    List<TraceSpan> waits = new ArrayList<>(2);
    stack[0] = entry;
    for (int height = 1; height > 0; ) {
      int above = stack[--height];
      for (int at = trace.firstChild(above); at < trace.endOfChildren(above); at++) {
        int number = trace.child(at);
        TraceSpan child = trace.span(number);
        // A ring of parents leads back to where it began.
        if (child.kind() == Span.CONSUMER || number == entry) {
          continue;
        }
        if (isCall(child, trace.span(entry))) {
          waits.add(child);
        } else {
          stack[height++] = number;
        }
      }
    }
    return waits;
  }

  private static boolean isCall(TraceSpan child, TraceSpan entry) {
    return child.kind() == Span.CLIENT
        || child.kind() == Span.PRODUCER
        || child.kind() == Span.SERVER
        || !child.service().equals(entry.service());
  }
}
