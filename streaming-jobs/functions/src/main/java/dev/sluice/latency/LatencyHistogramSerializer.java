package dev.sluice.latency;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Keeps histograms in Flink's state and on its network in their own encoding. */
public final class LatencyHistogramSerializer extends TypeSerializerSingleton<LatencyHistogram> {
  private static final long serialVersionUID = 1L;

  @Override
  public boolean isImmutableType() {
    return false;
  }

  @Override
  public LatencyHistogram createInstance() {
    return new LatencyHistogram();
  }

  @Override
  public LatencyHistogram copy(LatencyHistogram from) {
    return from.copy();
  }

  @Override
  public LatencyHistogram copy(LatencyHistogram from, LatencyHistogram reuse) {
    return copy(from);
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public void serialize(LatencyHistogram histogram, DataOutputView target) throws IOException {
    byte[] encoded = histogram.encode();
    target.writeInt(encoded.length);
    target.write(encoded);
  }

  @Override
  public LatencyHistogram deserialize(DataInputView source) throws IOException {
    byte[] encoded = new byte[source.readInt()];
    source.readFully(encoded);
    LatencyHistogram histogram = new LatencyHistogram();
    histogram.merge(encoded);
    return histogram;
  }

  @Override
  public LatencyHistogram deserialize(LatencyHistogram reuse, DataInputView source)
      throws IOException {
    return deserialize(source);
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    int length = source.readInt();
    target.writeInt(length);
    target.write(source, length);
  }

  @Override
  public TypeSerializerSnapshot<LatencyHistogram> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<LatencyHistogram> {
    public Snapshot() {
      super(LatencyHistogramSerializer::new);
    }
  }
}
