package dev.sluice.traces;

import java.util.ArrayList;
import java.util.List;

/**
 * Written records in arrays of about {@value #BYTES} bytes. Each array can be read alone, because
 * no record is split.
 */
final class Chunks {
  private static final int BYTES = 1 << 20;
  private static final int SPARE = 1 << 14;

  private final List<byte[]> full = new ArrayList<>();
  private RecordWriter out;

  /** The writer of the next record. */
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
