package dev.sluice.rules;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.intAttribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.service;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpanRulesTest {
  private static final String PROBES =
      """
      rule\tcart-counts\tcount
      service\tcart
      values\tpath\turl.path,http.target\t/healthz
      rule\tprobe\tleave_out
      side\tserver
      values\tpath\turl.path,http.target\t/healthz\t/livez*
      rule\tagent\tleave_out
      values\twhole\tuser_agent.original\tkube-probe/*
      rule\tacquire\twaiting
      side\tclient
      name\tpg-pool.connect\t*.getConnection
      rule\tnode\twaiting
      scope\t@opentelemetry/instrumentation-ioredis
      name\tconnect
      rule\tproxy\taround
      values\twhole\tcomponent\tproxy
      values\twhole\tport\t15006
      """;

  /** "use rule" of each span of a message. */
  private static List<String> uses(String lines, ResourceSpans... resources) throws Exception {
    SpanRules rules = SpanRules.parse(lines);
    List<String> uses = new ArrayList<>();
    new TraceRequestDecoder(rules.patterns())
        .decode(
            message(resources),
            span -> {
              rules.apply(span);
              uses.add((span.use() + " " + span.rule()).trim());
            });
    return uses;
  }

  private static io.opentelemetry.proto.trace.v1.Span.Builder with(
      int kind, String key, String value) {
    return span(1, kind, 0, 1).addAttributes(attribute(key, value));
  }

  @Test
  void probesAreLeftOutByPathWithoutTheirQuery() throws Exception {
    assertThat(
            uses(
                PROBES,
                service(
                    "stock",
                    with(Span.SERVER, "url.path", "/healthz"),
                    with(Span.SERVER, "http.target", "/livez?verbose"),
                    with(Span.SERVER, "url.path", "/healthzz"),
                    with(Span.SERVER, "http.target", "/a?/healthz"),
                    with(Span.CLIENT, "url.path", "/healthz"),
                    with(Span.INTERNAL, "url.path", "/healthz"))))
        .containsExactly("LEFT_OUT probe", "LEFT_OUT probe", "HELD", "HELD", "HELD", "HELD");
  }

  @Test
  void aRouteShowsWhichRequestsAreLeftOut() {
    SpanRules rules =
        SpanRules.parse(
            """
            rule\tcart\tcount
            service\tcart
            values\tpath\thttp.route\t/healthz
            rule\tagent\tleave_out
            values\twhole\tuser_agent.original\tkube-probe/*
            rule\tnamed\tleave_out
            name\tprobe
            values\tpath\thttp.route\t/named
            rule\tlong\tleave_out
            values\tpath\thttp.route\t/long
            longer\t5000
            rule\tdatabase\tleave_out
            side\tclient
            values\tpath\thttp.route\t/query
            rule\tprobe\tleave_out
            side\tserver
            values\tpath\turl.path,http.route\t/healthz\t/jolokia*
            rule\twait\twaiting
            values\tpath\thttp.route\t/changes
            """);
    assertThat(rules.leavesOut("stock", "/healthz")).isTrue();
    assertThat(rules.leavesOut("stock", "/jolokia/*")).isTrue();
    assertThat(rules.leavesOut("cart", "/healthz")).isFalse();
    for (String route : List.of("/items", "/named", "/long", "/query", "/changes", "", "/")) {
      assertThat(rules.leavesOut("stock", route)).isFalse();
    }
    assertThat(SpanRules.parse("").leavesOut("stock", "/healthz")).isFalse();
  }

  @Test
  void theFirstRuleThatMatchesDecides() throws Exception {
    assertThat(
            uses(
                PROBES,
                service("cart", with(Span.SERVER, "url.path", "/healthz")),
                service(
                    "cart",
                    with(Span.SERVER, "url.path", "/x")
                        .addAttributes(attribute("user_agent.original", "kube-probe/1.31")))))
        .containsExactly("HELD", "LEFT_OUT agent");
  }

  @Test
  void acquireSpansWaitByNameAndScope() throws Exception {
    ResourceSpans redis = service("cart", span(3, Span.CLIENT, 0, 1).setName("connect"));
    InstrumentationScope.Builder scope =
        InstrumentationScope.newBuilder().setName("@opentelemetry/instrumentation-ioredis");
    ResourceSpans.Builder scoped = redis.toBuilder();
    scoped.getScopeSpansBuilder(0).setScope(scope);
    assertThat(
            uses(
                PROBES,
                service(
                    "cart",
                    span(1, Span.CLIENT, 0, 1).setName("pg-pool.connect"),
                    span(2, Span.CLIENT, 0, 1).setName("HikariDataSource.getConnection"),
                    span(4, Span.CLIENT, 0, 1).setName("pg.query:SELECT")),
                redis,
                scoped.build()))
        .containsExactly("WAITING acquire", "WAITING acquire", "HELD", "HELD", "WAITING node");
  }

  @Test
  void allConditionsOfARuleHaveToHold() throws Exception {
    assertThat(
            uses(
                PROBES,
                service(
                    "cart",
                    with(Span.SERVER, "component", "proxy"),
                    with(Span.SERVER, "component", "proxy")
                        .addAttributes(intAttribute("port", 15_006)))))
        .containsExactly("HELD", "AROUND proxy");
  }

  @Test
  void aPeerIsThatOfTheAttributes() throws Exception {
    assertThat(
            uses(
                "rule\tr\tleave_out\npeer\tdb/*\nrule\tu\tleave_out\npeer\tunknown\n",
                service(
                    "cart",
                    with(Span.CLIENT, "server.address", "db")
                        .addAttributes(attribute("db.namespace", "shop")),
                    span(2, Span.CLIENT, 0, 1),
                    span(3, Span.SERVER, 0, 1))))
        .containsExactly("LEFT_OUT r", "LEFT_OUT u", "HELD");
  }

  @Test
  void manySpansDifferWithoutForgettingWhatTheyAre() throws Exception {
    var spans = new io.opentelemetry.proto.trace.v1.Span.Builder[20_000];
    for (int i = 0; i < spans.length; i++) {
      spans[i] = span(i + 1, Span.CLIENT, 0, 1).setName(i % 2 == 0 ? "op-" + i : "wait-" + i);
    }
    List<String> uses = uses("rule\tr\twaiting\nname\twait-*\n", service("cart", spans));
    for (int i = 0; i < spans.length; i++) {
      assertThat(uses.get(i)).isEqualTo(i % 2 == 0 ? "HELD" : "WAITING r");
    }
  }

  @Test
  void aLineOfAnotherFormIsRefused() {
    assertThatThrownBy(() -> SpanRules.parse("rule\tr\tdrop\n")).hasMessageContaining("drop");
    assertThatThrownBy(() -> SpanRules.parse("rool\tr\n")).hasMessageContaining("rool");
  }

  @Test
  void valuesOfTheResourceAndOfArraysMatch() throws Exception {
    String lines =
        """
        rule\tnode\tnot_a_pool
        values\twhole\ttelemetry.sdk.language\tnodejs
        rule\tsse\taround
        values\twhole\taccept\ttext/event-stream
        """;
    AnyValue header = AnyValue.newBuilder().setStringValue("text/event-stream").build();
    KeyValue accept =
        KeyValue.newBuilder()
            .setKey("accept")
            .setValue(
                AnyValue.newBuilder().setArrayValue(ArrayValue.newBuilder().addValues(header)))
            .build();
    List<KeyValue> node =
        List.of(attribute("service.name", "web"), attribute("telemetry.sdk.language", "nodejs"));
    assertThat(
            uses(
                lines,
                resource(node, span(1, Span.SERVER, 0, 1), span(2, Span.SERVER, 0, 1)),
                service("shop", span(3, Span.SERVER, 0, 1)),
                service("shop", span(4, Span.SERVER, 0, 1).addAttributes(accept))))
        .containsExactly("NOT_A_POOL node", "NOT_A_POOL node", "HELD", "AROUND sse");
  }

  @Test
  void onlyLongerSpansMatchADuration() throws Exception {
    String lines = "rule\tlong\taround\nside\tserver\nlonger\t1000\n";
    assertThat(
            uses(
                lines,
                service(
                    "shop",
                    span(1, Span.SERVER, 0, 1_000),
                    span(2, Span.SERVER, 0, 1_000.001),
                    span(3, Span.SERVER, 0, 1),
                    span(4, Span.CLIENT, 0, 5_000))))
        .containsExactly("HELD", "AROUND long", "HELD", "HELD");
  }
}
