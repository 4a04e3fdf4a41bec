package dev.sluice.traces;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;

/** The {@link Sighting}s of several traces, each once, in the order in which they first appear. */
public final class Sightings {
  private static final int RECENT = 1 << 8;

  private final long windowMs;
  private final Set<Sighting> all = new LinkedHashSet<>();
  // Nearly every span repeats a sighting: it costs no object, and no look-up by five names.
  private final Sighting[] recent = new Sighting[RECENT];

  /**
   * @param windowMs length of a window
   */
  public Sightings(long windowMs) {
    this.windowMs = windowMs;
  }

  /** Adds the sightings of a trace. */
  public void add(Trace trace) {
    for (TraceSpan span : trace.spans()) {
      int slot = 31 * span.instance().hashCode() + span.operation().hashCode() & RECENT - 1;
      if (recent[slot] == null || !recent[slot].covers(span, windowMs)) {
        recent[slot] = Sighting.of(span, windowMs);
        all.add(recent[slot]);
      }
    }
  }

  /** All of them; a view. */
  public Set<Sighting> all() {
    return all;
  }

  /** Forgets all. */
  public void clear() {
    all.clear();
    Arrays.fill(recent, null);
  }
}
