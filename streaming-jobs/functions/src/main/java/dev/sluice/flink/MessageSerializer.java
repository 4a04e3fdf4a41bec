package dev.sluice.flink;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** {@link Message} on Flink's network: only where more than one task reads spans. */
public final class MessageSerializer extends EncodedSerializer<Message> {
  private static final long serialVersionUID = 1L;
  private static final int TOMBSTONE = -1;

  @Override
  public Message createInstance() {
    return new Message(null, 0, 0, 0, 0, 0, false);
  }

  /** It is never changed. */
  @Override
  public Message copy(Message from) {
    return from;
  }

  @Override
  public void serialize(Message message, DataOutputView target) throws IOException {
    byte[] bytes = message.bytes();
    target.writeInt(bytes == null ? TOMBSTONE : bytes.length);
    if (bytes != null) {
      target.write(bytes);
    }
    target.writeLong(message.recordMs());
    target.writeInt(message.partition());
    target.writeLong(message.offset());
    target.writeLong(message.hashHigh());
    target.writeLong(message.hashLow());
    target.writeBoolean(message.repeated());
  }

  @Override
  public Message deserialize(DataInputView source) throws IOException {
    int length = source.readInt();
    byte[] bytes = length == TOMBSTONE ? null : new byte[length];
    if (bytes != null) {
      source.readFully(bytes);
    }
    return new Message(
        bytes,
        source.readLong(),
        source.readInt(),
        source.readLong(),
        source.readLong(),
        source.readLong(),
        source.readBoolean());
  }

  @Override
  public TypeSerializerSnapshot<Message> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format has no parameters. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<Message> {
    public Snapshot() {
      super(MessageSerializer::new);
    }
  }
}
