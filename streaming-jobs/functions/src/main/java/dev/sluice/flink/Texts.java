package dev.sluice.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinaryStringData;

/**
 * Names as Flink's strings, encoded once. Those of services, instances and peers repeat in every
 * row, and Flink would encode each again where rows are keyed by them. Not thread safe.
 */
final class Texts {
  private static final int MOST = 20_000;

  private final Map<String, StringData> known = new HashMap<>();

  StringData of(String text) {
    StringData data = known.get(text);
    if (data == null) {
      if (known.size() == MOST) {
        known.clear();
      }
      BinaryStringData encoded = BinaryStringData.fromString(text);
      encoded.ensureMaterialized();
      data = encoded;
      known.put(text, data);
    }
    return data;
  }
}
