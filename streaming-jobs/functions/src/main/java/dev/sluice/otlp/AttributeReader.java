package dev.sluice.otlp;

import static dev.sluice.otlp.WireReader.FIXED64;
import static dev.sluice.otlp.WireReader.LENGTH_DELIMITED;
import static dev.sluice.otlp.WireReader.VARINT;
import static dev.sluice.otlp.WireReader.expect;

import java.util.Map;

/**
 * Reads all attributes of a resource or of a point as text. Only the decoder of metrics uses it,
 * because metrics are few. The decoder of spans reads only attributes of {@link AttributeTable}.
 */
final class AttributeReader {
  private final WireReader in;
  private final StringPool strings;

  AttributeReader(WireReader in, StringPool strings) {
    this.in = in;
    this.strings = strings;
  }

  /**
   * Reads a KeyValue whose tag was read. It keeps text, numbers and booleans, and drops other
   * values.
   */
  void read(Map<String, String> into) throws MalformedMessageException {
    int outer = in.enter();
    String key = "";
    String value = null;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> key = text(tag);
        case 2 -> {
          expect(tag, LENGTH_DELIMITED);
          value = value(value);
        }
        default -> in.skip(tag);
      }
    }
    in.leave(outer);
    if (value != null && !value.isEmpty()) {
      into.put(key, value);
    }
  }

  /** Reads the text of a length-delimited field. */
  String text(int tag) throws MalformedMessageException {
    expect(tag, LENGTH_DELIMITED);
    int length = in.length();
    in.advance(length);
    return strings.get(in.bytes(), in.position() - length, length);
  }

  private String value(String before) throws MalformedMessageException {
    int outer = in.enter();
    String value = before;
    while (in.hasMore()) {
      int tag = in.tag();
      switch (tag >>> 3) {
        case 1 -> value = text(tag);
        case 2 -> {
          expect(tag, VARINT);
          value = Boolean.toString(in.varint() != 0);
        }
        case 3 -> {
          expect(tag, VARINT);
          value = Long.toString(in.varint());
        }
        case 4 -> {
          expect(tag, FIXED64);
          value = Double.toString(Double.longBitsToDouble(in.fixed64()));
        }
        default -> {
          in.skip(tag);
          value = null;
        }
      }
    }
    in.leave(outer);
    return value;
  }
}
