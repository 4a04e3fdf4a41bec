package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.bounds.Variants;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import dev.sluice.trees.CallTree;
import dev.sluice.trees.CallTrees;
import dev.sluice.trees.TreeTexts;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

/**
 * How often closed traces show each call tree, in the window of the root's end. The first trees of
 * a root operation in a window count separately, up to a limit; the others count together.
 */
final class TreeSums implements TraceSums {
  /** A tree can be 16 kB long: it counts as this many rows. */
  private static final int WEIGHT = 20;

  private record Key(String service, String operation, long windowMs, String tree) {}

  private final long windowMs;
  private final Variants variants;
  private final TreeTexts texts = new TreeTexts();
  private final Map<Key, Long> trees = new HashMap<>();

  TreeSums(Settings settings, Variants variants) {
    windowMs = settings.edgeWindowMs();
    this.variants = variants;
  }

  @Override
  public void add(byte[] traceId, Trace trace) {
    for (CallTree tree : CallTrees.of(trace, texts)) {
      TraceSpan top = tree.root();
      Variants.Root root =
          new Variants.Root(top.service(), top.operation(), top.shownWindowMs(windowMs));
      String text =
          variants.isSeparate(root, tree.hash()) ? tree.text() : CallTree.other(top).text();
      Key key = new Key(root.service(), root.operation(), root.windowMs(), text);
      trees.merge(key, 1L, Long::sum);
    }
  }

  @Override
  public int rows() {
    return WEIGHT * trees.size();
  }

  @Override
  public void drain(Consumer<RowData> out) {
    trees.forEach(
        (key, traces) ->
            out.accept(
                GenericRowData.of(
                    text(key.service()),
                    text(key.operation()),
                    Rows.seconds(key.windowMs()),
                    text(key.tree()),
                    traces)));
    trees.clear();
  }
}
