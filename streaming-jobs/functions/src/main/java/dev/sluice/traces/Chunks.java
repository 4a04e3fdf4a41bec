package dev.sluice.traces;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Written records in arrays of about {@value #BYTES} bytes: none is parted. */
final class Chunks {
  private static final int BYTES = 1 << 20;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);
  private final List<byte[]> full = new ArrayList<>();

  /** Where the next record goes. */
  DataOutputStream next() {
    if (bytes.size() >= BYTES) {
      flush();
    }
    return out;
  }

  List<byte[]> all() {
    if (bytes.size() > 0) {
      flush();
    }
    return full;
  }

  private void flush() {
    full.add(bytes.toByteArray());
    bytes.reset();
  }
}
