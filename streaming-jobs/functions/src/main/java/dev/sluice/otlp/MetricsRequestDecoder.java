package dev.sluice.otlp;

import static dev.sluice.otlp.WireReader.FIXED64;
import static dev.sluice.otlp.WireReader.LENGTH_DELIMITED;
import static dev.sluice.otlp.WireReader.VARINT;
import static dev.sluice.otlp.WireReader.expect;

import dev.sluice.otlp.MetricPoint.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * Decodes an {@code ExportMetricsServiceRequest} (opentelemetry-proto 1.x) straight from its bytes:
 * the number points of the gauges and sums in the mapping table of resources, and the figures of
 * pools ({@link PoolPoints}), which may be histograms and summaries too. It skips everything else.
 *
 * <p>As in {@link TraceRequestDecoder}, a known field with another wire type is malformed, and the
 * decoder passes points on while it reads, so a consumer must be able to forget them. Fields may be
 * in any order. The decoder first reads the fields that decide on others: a resource, a metric's
 * name, a sum's temporality.
 *
 * <p>Not thread safe; keep one per task.
 */
public final class MetricsRequestDecoder {
  /**
   * The containers of one pod differ by this attribute: their metrics have the pod's name as
   * instance.
   */
  private static final String CONTAINER = "k8s.container.name";

  private static final int NO_VALUE = 1;
  private static final int SUM = 7;
  private static final int HISTOGRAM = 9;
  private static final int EXPONENTIAL_HISTOGRAM = 10;
  private static final int SUMMARY = 11;

  /** Reads the bytes between the current position and the limit. */
  @FunctionalInterface
  private interface Body {
    void read() throws MalformedMessageException;
  }

  private final MetricTable metrics = MetricTable.load();
  private final AttributeTable identities = AttributeTable.load(List.of());
  private final WireReader in = new WireReader();
  private final AttributeReader attributes = new AttributeReader(in, new StringPool());
  private final TreeMap<String, String> resource = new TreeMap<>();
  private final TreeMap<String, String> own = new TreeMap<>();
  private final PoolPoints pools;

  private Consumer<MetricPoint> consumer;
  private String host;
  private String instance;
  private String name;
  private MetricTable.Entry metric;
  private long temporality;
  private boolean monotonic;

  /**
   * @param leftOut whether spans of a service and a route are left out: their requests do not count
   */
  public MetricsRequestDecoder(BiPredicate<String, String> leftOut) {
    pools = new PoolPoints(leftOut);
  }

  /**
   * Visits every point of a metric that a mapping table names.
   *
   * @throws MalformedMessageException if the bytes are not such a message; nothing else is thrown
   */
  public void decode(byte[] message, Consumer<MetricPoint> points, Consumer<PoolPoint> poolPoints)
      throws MalformedMessageException {
    in.reset(message);
    consumer = points;
    pools.start(poolPoints);
    each(1, this::resourceMetrics);
  }

  /** Enters every field of this number, skips the others. */
  private void each(int field, Body body) throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == field) {
        expect(tag, LENGTH_DELIMITED);
        int outer = in.enter();
        body.read();
        in.leave(outer);
      } else {
        in.skip(tag);
      }
    }
  }

  private void resourceMetrics() throws MalformedMessageException {
    int start = in.position();
    resource.clear();
    each(1, () -> attributes(1, resource));
    host = identity(AttributeTable.Role.HOST);
    instance = identity(AttributeTable.Role.INSTANCE);
    pools.resource(identity(AttributeTable.Role.SERVICE), instance);
    in.seek(start);
    each(2, () -> each(2, this::metric));
  }

  private void attributes(int field, Map<String, String> into) throws MalformedMessageException {
    while (in.hasMore()) {
      int tag = in.tag();
      if (tag >>> 3 == field) {
        expect(tag, LENGTH_DELIMITED);
        attributes.read(into);
      } else {
        in.skip(tag);
      }
    }
  }

  private String identity(AttributeTable.Role role) {
    String best = "";
    int rank = Integer.MAX_VALUE;
    for (Map.Entry<String, String> attribute : resource.entrySet()) {
      byte[] key = attribute.getKey().getBytes(StandardCharsets.UTF_8);
      for (AttributeTable.Entry entry : identities.find(key, 0, key.length)) {
        if (entry.role() == role && entry.rank() < rank) {
          rank = entry.rank();
          best = attribute.getValue();
        }
      }
    }
    return best;
  }

  private void metric() throws MalformedMessageException {
    int start = in.position();
    name = "";
    String unit = "";
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> name = attributes.text(tag);
        case 3 -> unit = attributes.text(tag);
        default -> in.skip(tag);
      }
    }
    metric = metrics.find(name);
    boolean isOfPool = pools.metric(name, unit);
    in.seek(start);
    while (in.hasMore()) {
      int tag = in.tag();
      int field = tag >>> 3;
      if (field == 5 || field == SUM) {
        data(tag, field == SUM);
      } else if (isOfPool && field >= HISTOGRAM && field <= SUMMARY) {
        distributions(tag, field);
      } else {
        in.skip(tag);
      }
    }
    pools.end();
  }

  /** A gauge, or a sum. */
  private void data(int tag, boolean isSum) throws MalformedMessageException {
    expect(tag, LENGTH_DELIMITED);
    int outer = in.enter();
    temporality = 0;
    monotonic = false;
    if (isSum) {
      sum();
    }
    pools.data(isSum ? PoolPoints.Shape.SUM : PoolPoints.Shape.GAUGE, temporality, monotonic);
    points();
    in.leave(outer);
  }

  /** Reads how a sum adds up, and goes back to its beginning. */
  private void sum() throws MalformedMessageException {
    int start = in.position();
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 2 -> {
          expect(tag, VARINT);
          temporality = in.varint();
        }
        case 3 -> {
          expect(tag, VARINT);
          monotonic = in.varint() != 0;
        }
        default -> in.skip(tag);
      }
    }
    in.seek(start);
  }

  private void points() throws MalformedMessageException {
    if (metric != null || pools.isRead()) {
      each(1, this::point);
      return;
    }
    while (in.hasMore()) {
      in.skip(in.tag());
    }
  }

  private void point() throws MalformedMessageException {
    own.clear();
    long startNs = 0;
    long timeNs = 0;
    long flags = 0;
    double value = Double.NaN;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 2 -> {
          expect(tag, FIXED64);
          startNs = in.fixed64();
        }
        case 3 -> {
          expect(tag, FIXED64);
          timeNs = in.fixed64();
        }
        case 4 -> {
          expect(tag, FIXED64);
          value = Double.longBitsToDouble(in.fixed64());
        }
        case 6 -> {
          expect(tag, FIXED64);
          value = in.fixed64();
        }
        case 7 -> {
          expect(tag, LENGTH_DELIMITED);
          attributes.read(own);
        }
        case 8 -> {
          expect(tag, VARINT);
          flags = in.varint();
        }
        default -> in.skip(tag);
      }
    }
    if ((flags & NO_VALUE) != 0) {
      return;
    }
    if (pools.isRead()) {
      pools.number(own, Series.of(name, own), startNs, timeNs, value);
    }
    if (metric != null && metric.filter().passes(own)) {
      consumer.accept(
          new MetricPoint(
              metric.role(),
              metric.rank(),
              host,
              metric.role().isOfHost() ? "" : instance,
              series(),
              kind(),
              startNs,
              timeNs,
              value * metric.factor()));
    }
  }

  private Kind kind() {
    if (!monotonic) {
      return Kind.LEVEL;
    }
    return temporality == PoolPoints.CUMULATIVE ? Kind.COUNTER : Kind.DELTA;
  }

  private String series() {
    if (!metric.role().isOfHost() && resource.containsKey(CONTAINER)) {
      own.put(CONTAINER, resource.get(CONTAINER));
    }
    return Series.of(name, own);
  }

  /**
   * A histogram's points are its first field, and its temporality is its second; so a summary's.
   */
  private void distributions(int tag, int field) throws MalformedMessageException {
    expect(tag, LENGTH_DELIMITED);
    int outer = in.enter();
    temporality = PoolPoints.CUMULATIVE;
    if (field != SUMMARY) {
      temporality = 0;
      sum();
    }
    pools.data(PoolPoints.Shape.DISTRIBUTION, temporality, true);
    switch (field) {
      case HISTOGRAM -> each(1, () -> distribution(9, 10));
      case EXPONENTIAL_HISTOGRAM -> each(1, () -> distribution(1, 10));
      default -> each(1, () -> distribution(7, 8));
    }
    in.leave(outer);
  }

  /** Start, time, count and sum have the same fields in all three; attributes and flags differ. */
  private void distribution(int attributesField, int flagsField) throws MalformedMessageException {
    own.clear();
    long startNs = 0;
    long timeNs = 0;
    long flags = 0;
    double count = 0;
    double sum = Double.NaN;
    while (in.hasMore()) {
      int tag = in.tag();
      int field = tag >>> 3;
      if (field == attributesField) {
        expect(tag, LENGTH_DELIMITED);
        attributes.read(own);
      } else if (field == flagsField) {
        expect(tag, VARINT);
        flags = in.varint();
      } else if (field >= 2 && field <= 5) {
        expect(tag, FIXED64);
        long bits = in.fixed64();
        switch (field) {
          case 2 -> startNs = bits;
          case 3 -> timeNs = bits;
          case 4 -> count = bits;
          default -> sum = Double.longBitsToDouble(bits);
        }
      } else {
        in.skip(tag);
      }
    }
    if ((flags & NO_VALUE) == 0) {
      pools.distribution(own, Series.of(name, own), startNs, timeNs, sum, count);
    }
  }
}
