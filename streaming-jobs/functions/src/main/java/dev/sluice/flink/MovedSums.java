package dev.sluice.flink;

import dev.sluice.traces.PeerMoves;
import dev.sluice.traces.Trace;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowSums;
import java.util.function.Consumer;
import org.apache.flink.table.data.RowData;

/** What closed traces move in the fine windows from stand-in peers to the services called. */
final class MovedSums implements TraceSums {
  private final Texts texts = new Texts();
  private final PeerMoves moves;
  private final WindowSums<ResourcePoint, Partial> sums = new WindowSums<>();

  MovedSums(Settings settings) {
    moves = new PeerMoves(settings.spread());
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    moves.of(trace, sums::add);
  }

  @Override
  public int rows() {
    return sums.rows();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    sums.drain((point, partial) -> out.accept(Rows.partial(texts, point, partial)));
  }
}
