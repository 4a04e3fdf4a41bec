package dev.sluice.samples;

import java.util.HashMap;
import java.util.Map;

/** Samples of several messages or traces, summed by site and window. */
public final class SampleSums {
  private final Map<Site, Map<Long, Sample>> sites = new HashMap<>();
  private int rows;

  /** Adds a sample, which is not the caller's any more. */
  public void add(Site site, Sample sample) {
    Sample sum =
        sites.computeIfAbsent(site, each -> new HashMap<>()).putIfAbsent(sample.windowMs(), sample);
    if (sum == null) {
      rows++;
    } else {
      sum.merge(sample);
    }
  }

  /** How many rows there are. */
  public int rows() {
    return rows;
  }

  /** Gives the samples, in no order, and forgets them. */
  public void drain(SampleAccumulator.Visitor visitor) {
    sites.forEach(
        (site, windows) -> windows.values().forEach(sample -> visitor.visit(site, sample)));
    sites.clear();
    rows = 0;
  }
}
