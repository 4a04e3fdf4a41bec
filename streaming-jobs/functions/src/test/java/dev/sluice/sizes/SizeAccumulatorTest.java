package dev.sluice.sizes;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowSums;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SizeAccumulatorTest {
  private static final String ROWS = "db.response.returned_rows";
  private static final String REQUEST = "http.request.body.size";
  private static final String RESPONSE = "http.response.body.size";

  private record Row(long rowSpans, long rowSum, long byteSpans, long byteSum) {
    static Row of(DataSize size) {
      return new Row(size.rowSpans(), size.rowSum(), size.byteSpans(), size.byteSum());
    }
  }

  private static String name(ResourcePoint point, DataSize size) {
    return String.join(
        " ",
        point.side().label(),
        point.service(),
        point.instance(),
        point.peer(),
        String.valueOf((size.windowMs() - MIDNIGHT_MS) / 1000));
  }

  /** "side service instance peer seconds after midnight" to its row. */
  private static Map<String, Row> rows(byte[] message) throws Exception {
    SizeAccumulator sizes = new SizeAccumulator(10_000);
    new TraceRequestDecoder().decode(message, sizes::accept);
    Map<String, Row> rows = new TreeMap<>();
    sizes.forEach((point, size) -> rows.put(name(point, size), Row.of(size)));
    return rows;
  }

  @Test
  void rowsAndBytesAreOfTheSpansThatSayThem() throws Exception {
    // 12 and 8 rows of two spans; 300, and 60 + 40 bytes of two.
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.CLIENT, 0, 1)
                            .addAttributes(attribute("peer.service", "db"))
                            .addAttributes(intAttribute(ROWS, 12)),
                        span(2, Span.CLIENT, 0, 1)
                            .addAttributes(attribute("peer.service", "db"))
                            .addAttributes(intAttribute(RESPONSE, 300)),
                        span(3, Span.PRODUCER, 0, 1)
                            .addAttributes(attribute("peer.service", "db"))
                            .addAttributes(intAttribute(ROWS, 8))
                            .addAttributes(intAttribute(REQUEST, 60))
                            .addAttributes(intAttribute(RESPONSE, 40)),
                        span(4, Span.CLIENT, 0, 1)
                            .addAttributes(attribute("peer.service", "db"))))))
        .isEqualTo(Map.of("client cart i-0 db 0", new Row(2, 20, 2, 400)));
  }

  @Test
  void nothingIsAnAnswerToo() throws Exception {
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 1)
                            .addAttributes(intAttribute(ROWS, 0))
                            .addAttributes(intAttribute(RESPONSE, 0))))))
        .isEqualTo(Map.of("server cart i-0  0", new Row(1, 0, 1, 0)));
  }

  @Test
  void sidesAndPeersStayApartAsInWindows() throws Exception {
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 1)
                            .addAttributes(attribute("peer.service", "nobody"))
                            .addAttributes(intAttribute(RESPONSE, 1)),
                        span(2, Span.CONSUMER, 0, 1).addAttributes(intAttribute(RESPONSE, 2)),
                        span(3, Span.CLIENT, 0, 1).addAttributes(intAttribute(RESPONSE, 4)),
                        span(4, Span.CLIENT, 0, 1)
                            .addAttributes(attribute("server.address", "db"))
                            .addAttributes(intAttribute(RESPONSE, 8)),
                        span(5, Span.INTERNAL, 0, 1).addAttributes(intAttribute(RESPONSE, 16))))))
        .isEqualTo(
            Map.of(
                "server cart i-0  0", new Row(0, 0, 1, 1),
                "consumer cart i-0  0", new Row(0, 0, 1, 2),
                "client cart i-0 unknown 0", new Row(0, 0, 1, 4),
                "client cart i-0 db 0", new Row(0, 0, 1, 8)));
  }

  @Test
  void theWindowIsThatOfTheEnd() throws Exception {
    assertThat(
            rows(
                message(
                    service(
                        "cart",
                        span(1, Span.SERVER, 0, 9_999).addAttributes(intAttribute(ROWS, 1)),
                        span(2, Span.SERVER, 0, 10_000).addAttributes(intAttribute(ROWS, 2))))))
        .isEqualTo(
            Map.of(
                "server cart i-0  0", new Row(1, 1, 0, 0),
                "server cart i-0  10", new Row(1, 2, 0, 0)));
  }

  @Test
  void spansThatSayNothingMakeNoRow() throws Exception {
    assertThat(
            rows(message(service("cart", span(1, Span.SERVER, 0, 1), span(2, Span.CLIENT, 0, 1)))))
        .isEmpty();
  }

  @Test
  void messagesAreSummedByPointAndWindow() {
    ResourcePoint point = ResourcePoint.client("cart", "i-0", "db");
    WindowSums<ResourcePoint, DataSize> sums = new WindowSums<>();
    for (long rows : new long[] {3, 4}) {
      DataSize size = new DataSize(10_000);
      size.add(rows, -1);
      sums.add(point, size);
    }
    DataSize later = new DataSize(20_000);
    later.add(-1, 9);
    sums.add(point, later);
    assertThat(sums.rows()).isEqualTo(2);
    Map<Long, Row> rows = new TreeMap<>();
    sums.drain((resource, size) -> rows.put(size.windowMs(), Row.of(size)));
    assertThat(rows).isEqualTo(Map.of(10_000L, new Row(2, 7, 0, 0), 20_000L, new Row(0, 0, 1, 9)));
    assertThat(sums.rows()).isZero();
  }

  @Test
  void theLargestSizesDoNotOverflowForMillionsOfSpans() {
    DataSize size = new DataSize(0);
    size.add(1L << 40, 1L << 41);
    assertThat(Math.multiplyExact(size.byteSum(), 4_000_000L)).isPositive();
  }
}
