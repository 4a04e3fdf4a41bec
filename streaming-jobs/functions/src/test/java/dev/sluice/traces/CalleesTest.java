package dev.sluice.traces;

import static dev.sluice.otlp.Requests.attribute;
import static dev.sluice.otlp.Requests.message;
import static dev.sluice.otlp.Requests.service;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Requests;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CalleesTest {
  private final Callees callees = new Callees();

  private void add(int calls, String callee) {
    for (int i = 0; i < calls; i++) {
      callees.add("front", "10.0.0.7", callee);
    }
  }

  private String of(int kind, String key, String value) throws Exception {
    List<String> found = new ArrayList<>();
    byte[] message =
        message(
            service("front", Requests.span(1, kind, 0, 10).addAttributes(attribute(key, value))));
    new TraceRequestDecoder()
        .decode(
            message,
            span -> {
              callees.apply(span);
              found.add(span.callee());
            });
    return found.get(0);
  }

  private String known() throws Exception {
    return of(Span.CLIENT, "server.address", "10.0.0.7");
  }

  @Test
  void aCalleeIsKnownAfter191CallsInARow() throws Exception {
    add(190, "cart");
    assertThat(known()).isEmpty();
    add(1, "cart");
    assertThat(known()).isEqualTo("cart");
  }

  @Test
  void onlyClientSpansThatNameNoServiceCountUnderIt() throws Exception {
    add(191, "cart");
    assertThat(of(Span.CLIENT, "server.address", "10.0.0.8")).isEmpty();
    assertThat(of(Span.CLIENT, "peer.service", "10.0.0.7")).isEmpty();
    assertThat(of(Span.SERVER, "server.address", "10.0.0.7")).isEmpty();
  }

  @Test
  void fourCallsToOthersAreTooMany() throws Exception {
    add(10_000, "cart");
    add(2, "");
    add(1, "stock");
    assertThat(known()).isEqualTo("cart");
    add(1, "");
    assertThat(known()).isEmpty();
  }

  @Test
  void anAddressMayGoToAnotherService() throws Exception {
    add(10_000, "cart");
    // 0.999 x (63/64)^44 is the first share below a half; then 191 calls count for it.
    add(44 + 190, "stock");
    assertThat(known()).isEmpty();
    add(1, "stock");
    assertThat(known()).isEqualTo("stock");
  }

  @Test
  void anAddressOfTwoServicesOrOfNoneHasNoCallee() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      add(9, "cart");
      add(1, "stock");
    }
    assertThat(known()).isEmpty();
    add(1_000, "");
    assertThat(known()).isEmpty();
  }

  @Test
  void beyondTheBoundAllAddressesAreLearnedAgain() throws Exception {
    add(191, "cart");
    for (int i = 1; i < Callees.MOST; i++) {
      callees.add("front", "pod-" + i, "cart");
    }
    assertThat(known()).isEqualTo("cart");
    callees.add("front", "one more", "cart");
    assertThat(known()).isEmpty();
    add(191, "cart");
    assertThat(known()).isEqualTo("cart");
  }

  @Test
  void tasksOfOneJobShareThem() {
    Callees ofJob = Callees.ofJob("a");
    assertThat(Callees.ofJob("a")).isSameAs(ofJob);
    assertThat(Callees.ofJob("b")).isNotSameAs(ofJob);
  }
}
