package dev.sluice.bounds;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.id;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.resource;
import static dev.sluice.otlp.Requests.span;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.MalformedMessageException;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.windows.Spread;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogBoundsTest {
  private static final long WINDOW_MS = 60_000;

  private final Limits limits = new Limits(WINDOW_MS, 2, 3, 2, 2, 2, 9, 1_000);
  private final TraceRequestDecoder decoder = new TraceRequestDecoder();
  private LogBounds bounds = new LogBounds(limits, new Spread(100, 600_000), true);

  private interface View {
    String of(Span span, boolean more);
  }

  /** What is views of each span of a message that partition 0 brings in a window. */
  private List<String> views(int window, View what, ResourceSpans... resources)
      throws MalformedMessageException {
    return views(0, window, what, resources);
  }

  private List<String> views(int partition, int window, View what, ResourceSpans... resources)
      throws MalformedMessageException {
    bounds.at(partition, MIDNIGHT_MS + window * WINDOW_MS);
    List<String> views = new ArrayList<>();
    decoder.decode(
        message(resources),
        span -> {
          boolean more = bounds.rename(span);
          bounds.shorten(span);
          views.add(what.of(span, more));
        });
    return views;
  }

  private static ResourceSpans of(String service, String instance, String host) {
    return resource(
        List.of(
            attribute("service.name", service),
            attribute("service.instance.id", instance),
            attribute("host.name", host)),
        span(1, Span.SERVER, 0, 1));
  }

  private List<String> services(int window, String... names) throws Exception {
    List<ResourceSpans> resources = new ArrayList<>();
    for (String name : names) {
      resources.add(of(name, "", ""));
    }
    return views(window, (span, more) -> span.service(), resources.toArray(ResourceSpans[]::new));
  }

  @Test
  void namesBeyondTheBoundAreTheRest() throws Exception {
    assertThat(services(0, "a", "b", "c", "a")).containsExactly("a", "b", "(more)", "a");
  }

  @Test
  void nameThatEachWindowHasKeepsItsPlaceAndOthersLoseTheirs() throws Exception {
    services(0, "a", "b", "c");
    assertThat(services(1, "c", "b", "d")).containsExactly("(more)", "b", "(more)");
    assertThat(services(2, "d", "a", "b")).containsExactly("d", "(more)", "b");
    assertThat(services(4, "x", "y")).containsExactly("x", "y");
  }

  @Test
  void eachPartitionHasItsOwn() throws Exception {
    services(0, "a", "b");
    assertThat(views(1, 0, (span, more) -> span.service(), of("c", "", ""))).containsExactly("c");
  }

  @Test
  void instancesOfAServiceThatIsNotToldApartAreNeither() throws Exception {
    View names = (span, more) -> span.service() + " " + span.instance() + " " + more;
    assertThat(
            views(
                0,
                names,
                of("a", "i", ""),
                of("b", "i", ""),
                of("c", "i", ""),
                of("a", "k", ""),
                of("a", "l", ""),
                of("a", "", "")))
        .containsExactly(
            "a i false",
            "b i false",
            "(more) (more) true",
            "a k false",
            "a (more) true",
            "a  false");
  }

  @Test
  void hostsAreToldApartWhateverTheirService() throws Exception {
    assertThat(
            views(
                0,
                (span, more) -> span.host(),
                of("a", "", "h"),
                of("b", "", "h"),
                of("b", "", "i"),
                of("b", "", "k")))
        .containsExactly("h", "h", "i", "(more)");
  }

  @Test
  void peersAreThoseOfClientSpansAndOperationsThoseOfEntries() throws Exception {
    ResourceSpans spans =
        resource(
            List.of(attribute("service.name", "a")),
            span(1, Span.CLIENT, 0, 1)
                .setParentSpanId(id(9, 8))
                .setName("x")
                .addAttributes(attribute("peer.service", "p")),
            span(2, Span.CLIENT, 0, 1)
                .setParentSpanId(id(9, 8))
                .setName("y")
                .addAttributes(attribute("server.address", "q")),
            span(3, Span.CLIENT, 0, 1)
                .setParentSpanId(id(9, 8))
                .setName("z")
                .addAttributes(attribute("server.address", "r")),
            span(4, Span.SERVER, 0, 1).setParentSpanId(id(9, 8)).setName("u"),
            span(5, Span.CONSUMER, 0, 1).setParentSpanId(id(9, 8)).setName("v"),
            span(6, Span.INTERNAL, 0, 1).setName("w"));
    assertThat(views(0, (span, more) -> span.peer() + " " + span.operation() + " " + more, spans))
        .containsExactly(
            "p x false", "q y false", "(more) z true", " u false", " v false", " (more) true");
  }

  @Test
  void longSpansBeyondTheBoundOfRowsAreShortenedUntilTheWindowEnds() throws Exception {
    // 101 buckets are short; 40 s touch 401.
    ResourceSpans spans =
        resource(
            List.of(attribute("service.name", "a")),
            span(1, Span.SERVER, 0, 40_000),
            span(2, Span.SERVER, 0, 40_000),
            span(3, Span.SERVER, 0, 40_000),
            span(4, Span.SERVER, 0, 9_950),
            span(5, Span.INTERNAL, 0, 40_000));
    View shortened = (span, more) -> "" + span.isShortened();
    assertThat(views(0, shortened, spans))
        .containsExactly("false", "false", "true", "false", "false");
    assertThat(views(1, shortened, spans)).startsWith("false", "false", "true");
  }

  @Test
  void restoredItGoesOnAsItWas() throws Exception {
    services(0, "a", "b");
    services(1, "b");
    byte[] snapshot = bounds.snapshot();
    bounds = new LogBounds(limits, new Spread(100, 600_000), true);
    bounds.restore(snapshot);
    assertThat(services(1, "c", "a")).containsExactly("(more)", "a");
    assertThat(services(2, "c")).containsExactly("(more)");
    assertThat(services(3, "c")).containsExactly("c");
  }
}
