package dev.sluice.flink;

import dev.sluice.traces.MessageFragments;
import dev.sluice.traces.SpanBytes;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** {@link MessageFragments} on Flink's network: only where more than one task assembles traces. */
public final class MessageFragmentsSerializer extends EncodedSerializer<MessageFragments> {
  private static final long serialVersionUID = 1L;

  @Override
  public MessageFragments createInstance() {
    return new MessageFragments(0, List.of());
  }

  /** It is never changed. */
  @Override
  public MessageFragments copy(MessageFragments from) {
    return from;
  }

  @Override
  public void serialize(MessageFragments message, DataOutputView target) throws IOException {
    target.writeInt(message.task());
    target.writeInt(message.fragments().size());
    for (TraceFragment fragment : message.fragments()) {
      write(fragment, target);
    }
  }

  private static void write(TraceFragment fragment, DataOutputView target) throws IOException {
    target.write(fragment.traceId().toBytes());
    target.writeLong(fragment.recordMs());
    target.writeInt(fragment.partition());
    target.writeLong(fragment.offset());
    byte[] spans = SpanBytes.encode(fragment.spans());
    target.writeInt(spans.length);
    target.write(spans);
  }

  @Override
  public MessageFragments deserialize(DataInputView source) throws IOException {
    int task = source.readInt();
    int size = source.readInt();
    List<TraceFragment> fragments = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      fragments.add(read(source));
    }
    return new MessageFragments(task, fragments);
  }

  private static TraceFragment read(DataInputView source) throws IOException {
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
  public TypeSerializerSnapshot<MessageFragments> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MessageFragments> {
    public Snapshot() {
      super(MessageFragmentsSerializer::new);
    }
  }
}
