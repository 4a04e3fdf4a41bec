package dev.sluice.flink;

import dev.sluice.traces.PeerMoves;
import dev.sluice.traces.Trace;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** What a closed trace moves in the fine windows from stand-in peers to the services called. */
final class MovedRows implements TraceRows {
  private final Texts texts = new Texts();
  private final PeerMoves moves;

  MovedRows(Settings settings) {
    moves = new PeerMoves(settings.spread());
  }

  @Override
  public void of(byte[] traceId, Trace trace, Consumer<RowData> out) {
    moves.of(trace, (point, partial) -> out.accept(Rows.partial(texts, point, partial)));
  }
}
