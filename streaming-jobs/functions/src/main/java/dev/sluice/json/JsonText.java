package dev.sluice.json;

/** Writes JSON strings (RFC 8259, section 7). */
public final class JsonText {
  private JsonText() {}

  /** Appends a value in quotes. */
  public static void appendString(StringBuilder text, String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < ' ') {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }
}
