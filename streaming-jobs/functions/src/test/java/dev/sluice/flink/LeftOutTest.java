package dev.sluice.flink;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** What windows do not count, through the whole stage. */
class LeftOutTest {
  private static final String[] WANTED = {"partial", "left", "moved", "nested"};
  private static final String RULES =
      "rule\tprobe\tleave_out\nvalues\tpath\turl.path\t/healthz\n"
          + "rule\tacquire\twaiting\nname\tpg-pool.connect\n";

  private static Fed fed() {
    var probe = span(1, Span.SERVER, 0, 2).addAttributes(attribute("url.path", "/healthz"));
    var outer = span(2, Span.SERVER, 0, 50).setName("GET /x");
    var inner = span(3, Span.SERVER, 1, 49).setName("request").setParentSpanId(id(2, 8));
    var late = span(4, Span.SERVER, 2, 32).setName("late").setParentSpanId(id(3, 8));
    var connect =
        span(5, Span.CLIENT, 5, 15)
            .setName("pg-pool.connect")
            .addAttributes(attribute("peer.service", "db"))
            .setParentSpanId(id(2, 8));
    return new Fed()
        .ruled(RULES)
        .receive(4_000, message(service("shop", late, probe)))
        .receive(4_100, message(service("shop", inner, outer, connect)));
  }

  /** Sums over the rows of a view, by what tells them apart. */
  private static Map<String, Long> sums(String view, String value, String... names)
      throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    for (Row row : fed().rows(1, view, WANTED)) {
      StringBuilder key = new StringBuilder();
      for (String name : names) {
        key.append(row.<String>getFieldAs(name)).append(' ');
      }
      sums.merge(key.toString().trim(), row.<Long>getFieldAs(value), Long::sum);
    }
    return sums;
  }

  @Test
  void messagesLeaveOutByRuleAndWhatIsNestedInThem() throws Exception {
    String[] names = {"side", "peer", "operation", "action", "rule"};
    assertThat(sums("left", "spans", names))
        .isEqualTo(
            Map.of(
                "server  work leave_out probe", 1L,
                "client db pg-pool.connect waiting acquire", 1L,
                "server  request nested nested", 1L));
    assertThat(sums("left", "duration_ns", names))
        .containsEntry("client db pg-pool.connect waiting acquire", 10_000_000L);
  }

  @Test
  void tracesTakeBackWhatIsNestedInAnotherMessage() throws Exception {
    assertThat(sums("nested", "spans", "operation", "rule")).isEqualTo(Map.of("late nested", 1L));
    assertThat(sums("partial", "completions", "side")).isEqualTo(Map.of("server", 2L));
    assertThat(sums("moved", "completions", "side")).isEqualTo(Map.of("server", -1L));
    assertThat(sums("moved", "busy_ns", "side")).isEqualTo(Map.of("server", -30_000_000L));
  }

  @Test
  void spansWithoutAThreadOfAPoolCountAndAreSetApartWithoutTheirNames() throws Exception {
    Fed node =
        new Fed()
            .ruled("rule\tnode\tnot_a_pool\nvalues\twhole\truntime\tnodejs\n")
            .receive(
                4_000,
                message(
                    service(
                        "web",
                        span(1, Span.SERVER, 0, 50).addAttributes(attribute("runtime", "nodejs")),
                        span(2, Span.SERVER, 60, 70)
                            .setName("other")
                            .addAttributes(attribute("runtime", "nodejs")))));
    List<Row> left = node.rows(1, "left", WANTED);
    assertThat(left).hasSize(1);
    assertThat(left.get(0).<String>getFieldAs("operation")).isEmpty();
    assertThat(left.get(0).<String>getFieldAs("action")).isEqualTo("not_a_pool");
    assertThat(left.get(0).<Long>getFieldAs("spans")).isEqualTo(2);
    assertThat(node.rows(1, "partial", WANTED)).isNotEmpty();
  }
}
