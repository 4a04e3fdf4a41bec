package dev.sluice.traces;

import java.util.ArrayList;
import java.util.List;

/**
 * Written records in arrays of about {@value #BYTES} bytes, each of which can be read alone: none
 * is parted.
 */
final class Chunks {
  private static final int BYTES = 1 << 20;
  private static final int SPARE = 1 << 14;

  private final List<byte[]> full = new ArrayList<>();
  private RecordWriter out;

  /** Where the next record goes. */
  RecordWriter next() {
    if (out != null && out.size() >= BYTES) {
      flush();
    }
    if (out == null) {
      out = new RecordWriter(BYTES + SPARE);
    }
    return out;
  }

  List<byte[]> all() {
    if (out != null) {
      flush();
    }
    return full;
  }

  private void flush() {
    full.add(out.toByteArray());
    out = null;
  }
}
