package dev.sluice.samples;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.otlp.Span;
import java.util.HashMap;
import java.util.Map;

/**
 * Sums the SERVER and CONSUMER spans of one message by site and window, as samples that add up. A
 * request belongs to the window that contains its end, {@code [k * length, (k + 1) * length)}.
 */
public final class SampleAccumulator implements SpanStage {
  /** Receives one partial sample. */
  @FunctionalInterface
  public interface Visitor {
    void visit(Site site, Sample sample);
  }

  private static final long NS_PER_MS = 1_000_000;

  private final long windowMs;
  private final Map<Site, Map<Long, Sample>> sites = new HashMap<>();
  private Site lastSite;
  private Map<Long, Sample> lastWindows;

  /**
   * @param windowMs length of a window
   */
  public SampleAccumulator(long windowMs) {
    this.windowMs = windowMs;
  }

  @Override
  public Outcome accept(Span span) {
    if (span.isServerSide()) {
      windowsOf(span)
          .computeIfAbsent(
              span.endNs() / (windowMs * NS_PER_MS), window -> new Sample(window * windowMs))
          .add(span.durationNs(), span.isError());
    }
    return Outcome.ACCEPTED;
  }

  @Override
  public void clear() {
    sites.clear();
    lastSite = null;
  }

  /** Visits the samples of the current message, in no order. */
  public void forEach(Visitor visitor) {
    sites.forEach(
        (site, windows) -> windows.values().forEach(sample -> visitor.visit(site, sample)));
  }

  private Map<Long, Sample> windowsOf(Span span) {
    if (lastSite == null || !lastSite.covers(span)) {
      lastSite = Site.of(span);
      lastWindows = sites.computeIfAbsent(lastSite, site -> new HashMap<>());
    }
    return lastWindows;
  }
}
