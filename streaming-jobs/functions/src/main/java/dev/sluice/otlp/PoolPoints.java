package dev.sluice.otlp;

import dev.sluice.otlp.MetricPoint.Kind;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * Makes figures of pools from the points of one metric after the other. {@link
 * MetricsRequestDecoder} decodes them.
 *
 * <p>A figure that is a level comes from a gauge, or from a sum that may fall and is cumulative. A
 * figure that adds up comes from a sum, or from the sum and count of a histogram or summary. A
 * metric of another kind, or of an unknown unit of time, gives NaN, so that its points are
 * accounted for.
 */
final class PoolPoints {
  /** The shape of a metric's data. */
  enum Shape {
    GAUGE,
    SUM,
    /** A histogram or summary, with sum and count. */
    DISTRIBUTION
  }

  static final int DELTA = 1;
  static final int CUMULATIVE = 2;

  /** A sender's figure that it does not know: Tomcat's threads where an executor serves it. */
  private static final double UNKNOWN = -1;

  /** A size that is no limit: the largest int of Java's cached thread pools. */
  private static final double UNLIMITED = Integer.MAX_VALUE;

  private static final int LONGEST_NAME = 256;

  private static final SortedMap<String, String> NO_ATTRIBUTES = Collections.emptySortedMap();

  /** One unit in seconds: by UCUM, as the .NET, Go and Micrometer libraries write them. */
  private static final Map<String, Double> SECONDS =
      Map.of(
          "s",
          1.0,
          "seconds",
          1.0,
          "ms",
          1e-3,
          "milliseconds",
          1e-3,
          "us",
          1e-6,
          "microseconds",
          1e-6,
          "ns",
          1e-9,
          "nanoseconds",
          1e-9);

  private final PoolMetricTable table = PoolMetricTable.load();
  private final PoolPeer peers = new PoolPeer();
  private final RequestCounts requests;

  private Consumer<PoolPoint> consumer;
  private String service = "";
  private String instance = "";
  private List<PoolMetricTable.Entry> entries = List.of();
  private String unit = "";
  private String metric = "";
  private Shape shape = Shape.GAUGE;
  private long temporality;
  private boolean monotonic;

  /**
   * @param leftOut whether spans of a service and a route are left out
   */
  PoolPoints(BiPredicate<String, String> leftOut) {
    requests = new RequestCounts(leftOut);
  }

  void start(Consumer<PoolPoint> points) {
    consumer = points;
  }

  void resource(String ofService, String ofInstance) {
    service = ofService;
    instance = ofInstance;
  }

  /** Begins a metric; whether it is in the table. */
  boolean metric(String name, String ofUnit) {
    entries = table.find(name);
    metric = name;
    requests.clear();
    unit = ofUnit;
    return isRead();
  }

  boolean isRead() {
    return !entries.isEmpty();
  }

  /** Begins the data of the metric. */
  void data(Shape ofShape, long ofTemporality, boolean isMonotonic) {
    shape = ofShape;
    temporality = ofTemporality;
    monotonic = isMonotonic;
  }

  /** Ends a metric, of which all points were seen. */
  void end() {
    for (PoolMetricTable.Entry entry : entries) {
      if (entry.figure() == PoolFigure.REQUESTS) {
        requests
            .sums()
            .forEach(
                (timeNs, sum) -> {
                  long startNs = sum.startNs();
                  count(entry, PoolFigure.REQUESTS, startNs, timeNs, sum.requests());
                  count(entry, PoolFigure.FAILED_REQUESTS, startNs, timeNs, sum.failed());
                });
      }
    }
  }

  private void count(
      PoolMetricTable.Entry entry, PoolFigure figure, long startNs, long timeNs, double count) {
    emit(entry, figure, NO_ATTRIBUTES, metric, startNs, timeNs, count);
  }

  /** A point of a gauge or a sum. */
  void number(
      SortedMap<String, String> attributes,
      String series,
      long startNs,
      long timeNs,
      double value) {
    for (PoolMetricTable.Entry entry : entries) {
      PoolFigure figure = entry.figure();
      if (figure == PoolFigure.REQUESTS) {
        requests.add(service, attributes, startNs, timeNs, value);
        continue;
      }
      boolean known = !figure.isLevel() || !(Double.isNaN(value) || value == UNKNOWN);
      if (known && entry.filter().passes(attributes)) {
        emit(entry, figure, attributes, series, startNs, timeNs, inUnit(entry, value));
      }
    }
  }

  /** A point of a histogram or summary. sum: NaN where the sender has none. */
  void distribution(
      SortedMap<String, String> attributes,
      String series,
      long startNs,
      long timeNs,
      double sum,
      double count) {
    for (PoolMetricTable.Entry entry : entries) {
      if (entry.filter().passes(attributes)) {
        PoolFigure figure = entry.figure();
        if (figure == PoolFigure.REQUESTS) {
          requests.add(service, attributes, startNs, timeNs, count);
          continue;
        }
        if (!figure.isTime()) {
          emit(entry, figure, attributes, series, startNs, timeNs, Double.NaN);
          continue;
        }
        if (!Double.isNaN(sum)) {
          emit(entry, figure, attributes, series, startNs, timeNs, sum * seconds(entry));
        }
        emit(entry, figure.number(), attributes, series, startNs, timeNs, count);
      }
    }
  }

  private void emit(
      PoolMetricTable.Entry entry,
      PoolFigure figure,
      SortedMap<String, String> attributes,
      String series,
      long startNs,
      long timeNs,
      double value) {
    String pool = cut(unquoted(PoolPeer.first(attributes, entry.poolNames())));
    String peer = entry.side() == PoolSide.CLIENT ? cut(peers.of(attributes, pool)) : "";
    Kind kind = figure.isLevel() ? Kind.LEVEL : temporality == DELTA ? Kind.DELTA : Kind.COUNTER;
    consumer.accept(
        new PoolPoint(
            figure,
            entry.side(),
            entry.rank(),
            service,
            instance,
            pool,
            peer,
            series,
            kind,
            kind == Kind.COUNTER ? startNs : 0,
            timeNs,
            fits(figure) ? value : Double.NaN));
  }

  /** Whether a metric of this kind can hold the figure. */
  private boolean fits(PoolFigure figure) {
    if (figure.isLevel()) {
      return shape == Shape.GAUGE || shape == Shape.SUM && temporality == CUMULATIVE && !monotonic;
    }
    return shape != Shape.GAUGE && (temporality == DELTA || temporality == CUMULATIVE);
  }

  private double inUnit(PoolMetricTable.Entry entry, double value) {
    if (entry.figure() == PoolFigure.SIZE) {
      return value == UNLIMITED ? 0 : value;
    }
    return entry.figure().isTime() ? value * seconds(entry) : value;
  }

  private double seconds(PoolMetricTable.Entry entry) {
    return SECONDS.getOrDefault(unit.isEmpty() ? entry.unit() : unit, Double.NaN);
  }

  /** JMX quotes the name of a Tomcat's thread pool: {@code "http-nio-8080"}. */
  private static String unquoted(String name) {
    boolean quoted = name.length() > 1 && name.startsWith("\"") && name.endsWith("\"");
    return quoted ? name.substring(1, name.length() - 1) : name;
  }

  private static String cut(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME);
  }
}
