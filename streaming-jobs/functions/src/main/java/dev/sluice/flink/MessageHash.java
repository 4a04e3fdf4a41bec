package dev.sluice.flink;

import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import org.apache.flink.table.functions.ScalarFunction;

/**
 * SQL {@code message_hash(message)}: 128 bits of XXH3 over the bytes of a message; NULL counts as
 * no bytes.
 *
 * <p>Two different messages share a hash, and the later one is taken for a repeat, with a
 * probability of 2^-128 a pair: with a billion messages within the repeat window, 1.5e-21. The hash
 * is not cryptographic: who can write to the topic can make two messages collide, but could as well
 * write wrong spans. The seed is part of the state that savepoints hold: it never changes.
 */
public final class MessageHash extends ScalarFunction {
  private static final long serialVersionUID = 1L;
  private static final Hasher128 XXH3 = Hashing.xxh3_128(0x51ce);
  private static final byte[] NOTHING = {};

  public byte[] eval(byte[] message) {
    return XXH3.hashBytesTo128Bits(message == null ? NOTHING : message).toByteArray();
  }
}
