package dev.sluice.flink;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** Keeps mutable sums in Flink's state and on its network in their own encoding. */
abstract class EncodedSerializer<T> extends TypeSerializerSingleton<T> {
  private static final long serialVersionUID = 1L;
  private static final int INITIAL_BYTES = 256;

  /** In one array, for a column of BYTES. */
  final byte[] toBytes(T sums) {
    try {
      DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);
      serialize(sums, out);
      return out.getCopyOfBuffer();
    } catch (IOException e) {
      throw new UncheckedIOException("write sums to memory", e);
    }
  }

  /** The inverse of {@link #toBytes}. */
  final T ofBytes(byte[] bytes) {
    try {
      return deserialize(new DataInputDeserializer(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException("read sums from memory", e);
    }
  }

  @Override
  public final boolean isImmutableType() {
    return false;
  }

  @Override
  public final T copy(T from, T reuse) {
    return copy(from);
  }

  @Override
  public final int getLength() {
    return -1;
  }

  @Override
  public final T deserialize(T reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public final void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }
}
