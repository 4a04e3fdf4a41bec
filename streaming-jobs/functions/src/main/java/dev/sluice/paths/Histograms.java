package dev.sluice.paths;

import dev.sluice.latency.LatencyHistogram;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** Encodes histograms among other fields: their length, and their own encoding. */
final class Histograms {
  private Histograms() {}

  static void write(LatencyHistogram histogram, DataOutput out) throws IOException {
    byte[] encoded = histogram.encode();
    out.writeInt(encoded.length);
    out.write(encoded);
  }

  static void read(LatencyHistogram into, DataInput in) throws IOException {
    byte[] encoded = new byte[in.readInt()];
    in.readFully(encoded);
    into.merge(encoded);
  }
}
