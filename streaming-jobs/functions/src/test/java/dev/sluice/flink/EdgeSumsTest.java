package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.otlp.Span;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** front calls cart, which calls a database. */
class EdgeSumsTest {
  private static final byte[] ID = new byte[16];
  private static final Trace TRACE =
      Trace.assemble(
          List.of(
              span(1, 0, Span.CLIENT, "front", ""),
              span(2, 1, Span.SERVER, "cart", ""),
              span(3, 2, Span.CLIENT, "cart", "db")),
          100);

  private final EdgeSums sums = new EdgeSums(Settings.of(Map.of("sluice.edge-window-ms", "10000")));

  private static TraceSpan span(long id, long parent, int kind, String service, String peer) {
    long startNs = MIDNIGHT_MS * 1_000_000;
    byte place = 0;
    return new TraceSpan(
        id,
        parent,
        kind,
        false,
        false,
        startNs,
        1,
        service,
        peer,
        "",
        "op",
        "",
        "",
        MIDNIGHT_MS,
        place);
  }

  /** "caller>callee calls, version". */
  private List<String> drained() {
    List<String> rows = new ArrayList<>();
    sums.drain(
        row ->
            rows.add(
                row.getString(0)
                    + ">"
                    + row.getString(1)
                    + " "
                    + row.getLong(3)
                    + ", "
                    + row.getLong(6)));
    return rows;
  }

  @Test
  void aPreviewCountsCallsBetweenServicesAndMakesNoVersionLarger() {
    sums.preview(TRACE, 1);
    assertThat(drained()).containsExactly("front>cart 1, 0");
    sums.preview(TRACE, -1);
    sums.add(ID, TRACE);
    assertThat(drained()).containsExactlyInAnyOrder("front>cart 0, 1", "cart>db 1, 1");
  }

  @Test
  void whatIsTakenBackBeforeItIsEmittedIsNoRow() {
    sums.preview(TRACE, 1);
    sums.preview(TRACE, -1);
    assertThat(drained()).isEmpty();
  }
}
