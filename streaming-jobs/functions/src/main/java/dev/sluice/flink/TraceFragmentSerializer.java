package dev.sluice.flink;

import dev.sluice.traces.SpanBytes;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceId;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** {@link TraceFragment} on Flink's network: only where more than one task assembles traces. */
public final class TraceFragmentSerializer extends EncodedSerializer<TraceFragment> {
  private static final long serialVersionUID = 1L;

  @Override
  public TraceFragment createInstance() {
    return new TraceFragment(new TraceId(0, 0), 0, 0, 0, List.of());
  }

  /** It is never changed. */
  @Override
  public TraceFragment copy(TraceFragment from) {
    return from;
  }

  @Override
  public void serialize(TraceFragment fragment, DataOutputView target) throws IOException {
    target.write(fragment.traceId().toBytes());
    target.writeLong(fragment.recordMs());
    target.writeInt(fragment.partition());
    target.writeLong(fragment.offset());
    byte[] spans = SpanBytes.encode(fragment.spans());
    target.writeInt(spans.length);
    target.write(spans);
  }

  @Override
  public TraceFragment deserialize(DataInputView source) throws IOException {
    byte[] traceId = new byte[TraceId.LENGTH];
    source.readFully(traceId);
    long recordMs = source.readLong();
    int partition = source.readInt();
    long offset = source.readLong();
    byte[] spans = new byte[source.readInt()];
    source.readFully(spans);
    return new TraceFragment(
        TraceId.of(traceId), recordMs, partition, offset, SpanBytes.decode(spans));
  }

  @Override
  public TypeSerializerSnapshot<TraceFragment> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<TraceFragment> {
    public Snapshot() {
      super(TraceFragmentSerializer::new);
    }
  }
}
