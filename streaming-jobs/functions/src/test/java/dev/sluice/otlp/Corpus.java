package dev.sluice.otlp;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.intAttribute;

import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Requests with the attributes and metrics of all mapping tables, and with hostile values. */
public final class Corpus {
  /** Some reader takes each of these for more than a name, or for a number. */
  private static final String[] TEXTS = {
    "cart",
    "",
    "http://u:p@[::1]:99999/?q=%00",
    "h:1:2",
    "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=",
    "outbound|80||",
    "ot=th:",
    "ot=th:ffffffffffffff;rv:0",
    "=;,:;",
    "-1",
    "NaN",
    "9".repeat(400),
    "\0\u202e\ud83e\uddf5\u001b[2J",
    "`${x}';--\n",
    "é".repeat(200),
    "x".repeat(10_000)
  };

  private final Random random;

  public Corpus(Random random) {
    this.random = random;
  }

  /** Two traces of two services. */
  public byte[] spans() {
    Span.Builder[] spans = new Span.Builder[6];
    for (int i = 0; i < spans.length; i++) {
      spans[i] =
          Requests.span(i + 1, 1 + i % 5, i, 100 + random.nextInt(1_000))
              .setTraceId(id(1 + i / 3, 16))
              .setTraceState(text())
              .setName(text())
              .addAllAttributes(attributes(20))
              .addLinks(Span.Link.newBuilder().setTraceId(id(1, 16)));
      if (i % 3 > 0) {
        spans[i].setParentSpanId(id(i, 8));
      }
    }
    return Requests.message(
        Requests.service("cart", spans[0], spans[1], spans[2]),
        Requests.resource(attributes(5), spans[3], spans[4], spans[5]));
  }

  /** A quarter of the metrics, of a service and of a container. */
  public byte[] metrics() {
    List<Metric> metrics = new ArrayList<>();
    for (String name : column("metrics.csv", 2)) {
      add(name, metrics);
    }
    for (String name : column("pools.csv", 3)) {
      add(name, metrics);
    }
    Metric[] all = metrics.toArray(Metric[]::new);
    List<KeyValue> service = new ArrayList<>(attributes(5));
    service.add(attribute("service.name", "cart"));
    return Metrics.message(Metrics.resource(service, all), Metrics.pod("web", all));
  }

  private void add(String name, List<Metric> metrics) {
    if (random.nextInt(4) == 0) {
      var point =
          Metrics.point(random.nextInt(100), random.nextInt(2_000), attribute("state", "used"))
              .addAllAttributes(List.of(attribute("pool.name", text()), attribute(text(), text())));
      metrics.add(random.nextBoolean() ? Metrics.gauge(name, point) : Metrics.counter(name, point));
    }
  }

  private List<KeyValue> attributes(int count) {
    List<String> names = column("attributes.csv", 2);
    List<KeyValue> attributes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String name = names.get(random.nextInt(names.size()));
      attributes.add(
          random.nextInt(3) == 0
              ? intAttribute(name, random.nextLong() >> random.nextInt(64))
              : attribute(name, text()));
    }
    return attributes;
  }

  private String text() {
    return TEXTS[random.nextInt(TEXTS.length)];
  }

  /** A column of a mapping table. */
  private static List<String> column(String table, int number) {
    try (var in = Corpus.class.getResourceAsStream(table);
        var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return lines
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .skip(1)
          .map(line -> line.split(",")[number])
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("read " + table, e);
    }
  }
}
