package dev.sluice.resources;

import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.DeadLetters;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.accounting.Validity;
import dev.sluice.bounds.MetricBounds;
import dev.sluice.otlp.MalformedMessageException;
import dev.sluice.otlp.MetricPoint;
import dev.sluice.otlp.MetricsRequestDecoder;
import dev.sluice.otlp.PoolFigure;
import dev.sluice.otlp.PoolPoint;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;

/**
 * Reads one message of metrics: sums its points by series and window, and accounts for every point
 * whose metric is in a mapping table. All or nothing for the message, one by one for its points.
 */
public final class MetricMessageReader {
  private static final long NS_PER_MS = 1_000_000;
  // A counter is not summed and may use nearly all of 63 bits. 9,000 of the largest levels
  // (1,000,000 cores, 1 PB/s) fit into a window, and more smaller ones than any host sends.
  private static final double LARGEST_COUNTER = 9e18;
  private static final double LARGEST_LEVEL = 1e15;
  // No pool has more connections or threads.
  private static final double LARGEST_SIZE = 1e6;

  private final MetricsRequestDecoder decoder;
  private final Validity validity;
  private final long windowMs;
  private final MetricBounds bounds;
  private final OutcomeCounts counts = new OutcomeCounts();
  private final DeadLetters deadLetters = new DeadLetters();
  private final Map<ResourceKey, ResourceSums> sums = new HashMap<>();
  private final Map<PoolKey, ResourceSums> poolSums = new HashMap<>();
  private long recordTimeMs;

  /**
   * @param windowMs length of a window
   * @param leftOut whether spans of a service and a route are left out
   */
  public MetricMessageReader(
      Validity validity, long windowMs, MetricBounds bounds, BiPredicate<String, String> leftOut) {
    decoder = new MetricsRequestDecoder(leftOut);
    this.validity = validity;
    this.windowMs = windowMs;
    this.bounds = bounds;
  }

  /**
   * Reads a message; {@link #forEach}, {@link #forEachPool}, {@link #counts} and {@link
   * #deadLetters} then hold its results until the next one.
   *
   * @param message an ExportMetricsServiceRequest; null, as Kafka's tombstones are, is malformed
   * @param partition of the message
   * @param recordTimeMs when the broker appended it
   */
  public void read(byte[] message, int partition, long recordTimeMs) {
    clear();
    this.recordTimeMs = recordTimeMs;
    bounds.at(partition, recordTimeMs);
    if (message == null) {
      reject("record has no value", new byte[0]);
      return;
    }
    try {
      decoder.decode(message, this::point, this::poolPoint);
    } catch (MalformedMessageException e) {
      clear();
      reject(e.getMessage(), message);
    }
  }

  /** Visits the sums of the current message, in no order. */
  public void forEach(BiConsumer<ResourceKey, ResourceSums> visitor) {
    sums.forEach(visitor);
  }

  /** Visits the sums of figures of pools in the current message, in no order. */
  public void forEachPool(BiConsumer<PoolKey, ResourceSums> visitor) {
    poolSums.forEach(visitor);
  }

  /** Points, where other jobs count spans. */
  public OutcomeCounts counts() {
    return counts;
  }

  /** Only the first few of each reason; the counts are complete. */
  public List<DeadLetter> deadLetters() {
    return deadLetters.list();
  }

  private void point(MetricPoint point) {
    Outcome outcome = judge(point);
    if (!outcome.isAccepted()) {
      reject(outcome, point);
      return;
    }
    long timeMs = point.timeNs() / NS_PER_MS;
    ResourceKey key = ResourceKey.of(point, timeMs / windowMs * windowMs, bounds);
    boolean inRest = key.isInRest();
    counts.span(inRest ? Outcome.ACCEPTED_MORE : outcome, "", recordTimeMs - timeMs);
    sums.computeIfAbsent(key, absent -> new ResourceSums())
        .add(Math.round(scaled(point)), !inRest && !isCounter(point), point.timeNs());
  }

  private void poolPoint(PoolPoint point) {
    Outcome outcome = judge(point);
    if (!outcome.isAccepted()) {
      reject(outcome, point);
      return;
    }
    long timeMs = point.timeNs() / NS_PER_MS;
    PoolKey key = PoolKey.of(point, timeMs / windowMs * windowMs, bounds);
    boolean inRest = key.isInRest();
    counts.span(inRest ? Outcome.ACCEPTED_MORE : outcome, "", recordTimeMs - timeMs);
    boolean summed = !inRest && point.kind() != MetricPoint.Kind.COUNTER;
    poolSums
        .computeIfAbsent(key, absent -> new ResourceSums())
        .add(Math.round(point.value() * point.figure().scale()), summed, point.timeNs());
  }

  private Outcome judge(PoolPoint point) {
    if (point.service().isEmpty()) {
      return Outcome.MISSING_SERVICE;
    }
    if (!validity.covers(point.timeNs(), recordTimeMs)) {
      return Outcome.CLOCK_OUT_OF_RANGE;
    }
    double value = point.value() * point.figure().scale();
    double largest =
        point.figure().isLevel()
            ? LARGEST_SIZE
            : point.kind() == MetricPoint.Kind.COUNTER ? LARGEST_COUNTER : LARGEST_LEVEL;
    // A size below 0.5 must not become that of a pool without a limit.
    boolean whole = point.figure() != PoolFigure.SIZE || value == Math.rint(value);
    // In this form NaN fails, too.
    return whole && value >= 0 && value <= largest ? Outcome.ACCEPTED : Outcome.VALUE_OUT_OF_RANGE;
  }

  private void reject(Outcome outcome, Record point) {
    counts.span(outcome, "", 0);
    deadLetters.add(outcome, () -> new DeadLetter(outcome, point.toString(), "", "", "", null));
  }

  private Outcome judge(MetricPoint point) {
    if ((point.role().isOfHost() ? point.host() : point.instance()).isEmpty()) {
      return Outcome.MISSING_IDENTITY;
    }
    if (!validity.covers(point.timeNs(), recordTimeMs)) {
      return Outcome.CLOCK_OUT_OF_RANGE;
    }
    // In this form NaN fails, too.
    double largest = isCounter(point) ? LARGEST_COUNTER : LARGEST_LEVEL;
    if (!(scaled(point) >= 0 && scaled(point) <= largest)) {
      return Outcome.VALUE_OUT_OF_RANGE;
    }
    return Outcome.ACCEPTED;
  }

  private static double scaled(MetricPoint point) {
    return point.value() * point.role().scale();
  }

  private static boolean isCounter(MetricPoint point) {
    return point.kind() == MetricPoint.Kind.COUNTER;
  }

  private void reject(String detail, byte[] payload) {
    counts.message(Outcome.MALFORMED_MESSAGE);
    deadLetters.add(Outcome.MALFORMED_MESSAGE, () -> DeadLetter.ofMessage(detail, payload));
  }

  private void clear() {
    sums.clear();
    poolSums.clear();
    counts.clear();
    deadLetters.clear();
  }
}
