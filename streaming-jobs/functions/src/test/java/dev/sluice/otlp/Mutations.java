package dev.sluice.otlp;

import java.io.ByteArrayOutputStream;
import java.util.Random;

/**
 * Bytes that no honest sender sends: bits are changed, bytes are inserted, taken out and repeated,
 * lengths and numbers become the longest, and parts of another message come in between.
 */
public final class Mutations {
  private static final int MOST = 8;

  /**
   * The longest varint, a length of 2 GB, field 0, a group, a varint and a length without an end,
   * empty fields.
   */
  private static final byte[][] WIRE = {
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1},
    {-1, -1, -1, -1, 7},
    {0},
    {0x0B},
    {-128},
    {0x0A, 0x7F},
    {0x0A, 0},
    {0x12, 0, 0x12, 0, 0x12, 0, 0x12, 0}
  };

  private final Random random;

  public Mutations(Random random) {
    this.random = random;
  }

  /** The message after one change or several. */
  public byte[] of(byte[] message, byte[] other) {
    byte[] mutated = message;
    for (int changes = 1 + random.nextInt(MOST); changes > 0; changes--) {
      mutated = once(mutated, other);
    }
    return mutated;
  }

  private byte[] once(byte[] message, byte[] other) {
    if (message.length == 0) {
      return other;
    }
    int at = random.nextInt(message.length);
    int length = Math.min(message.length - at, 1 + random.nextInt(random.nextBoolean() ? 4 : 200));
    switch (random.nextInt(8)) {
      case 0, 1 -> {
        byte[] changed = message.clone();
        changed[at] ^= (byte) (1 << random.nextInt(8));
        return changed;
      }
      case 2 -> {
        byte[] changed = message.clone();
        changed[at] = (byte) random.nextInt();
        return changed;
      }
      case 3 -> {
        return spliced(message, at, at + length, new byte[0], 0, 0);
      }
      case 4 -> {
        return spliced(message, at, at, message, at, length);
      }
      case 5 -> {
        byte[] wire = WIRE[random.nextInt(WIRE.length)];
        int end = random.nextBoolean() ? at : Math.min(message.length, at + wire.length);
        return spliced(message, at, end, wire, 0, wire.length);
      }
      case 6 -> {
        int from = random.nextInt(other.length);
        int taken = Math.min(other.length - from, length);
        return spliced(message, at, at + length, other, from, taken);
      }
      default -> {
        return random.nextInt(4) == 0
            ? spliced(message, at, message.length, WIRE[0], 0, 0)
            : message;
      }
    }
  }

  /** The message with bytes of another one in place of those from start to end. */
  private static byte[] spliced(
      byte[] message, int start, int end, byte[] other, int from, int length) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(message.length + length);
    out.write(message, 0, start);
    out.write(other, from, length);
    out.write(message, end, message.length - end);
    return out.toByteArray();
  }
}
