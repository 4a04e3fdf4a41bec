package dev.sluice.flink;

import dev.sluice.paths.PathTotals;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** {@link PathTotals} in Flink's state. */
public final class PathTotalsSerializer extends EncodedSerializer<PathTotals> {
  private static final long serialVersionUID = 1L;

  @Override
  public PathTotals createInstance() {
    return new PathTotals();
  }

  @Override
  public PathTotals copy(PathTotals from) {
    PathTotals copy = new PathTotals();
    copy.add(from);
    return copy;
  }

  @Override
  public void serialize(PathTotals totals, DataOutputView target) throws IOException {
    totals.write(target);
  }

  @Override
  public PathTotals deserialize(DataInputView source) throws IOException {
    return PathTotals.read(source);
  }

  @Override
  public TypeSerializerSnapshot<PathTotals> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<PathTotals> {
    public Snapshot() {
      super(PathTotalsSerializer::new);
    }
  }
}
