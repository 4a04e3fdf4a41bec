package dev.sluice.otlp;

import java.util.SortedMap;

/** The name of a series: its metric and its attributes, in a fixed order. */
final class Series {
  private static final int LONGEST = 240;
  private static final long FNV_BASIS = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Series() {}

  /**
   * {@code system.cpu.time cpu=cpu0,state=idle}. A name longer than {@value #LONGEST} characters is
   * cut, and a hash of the whole follows, so that different series keep different names.
   */
  static String of(String metric, SortedMap<String, String> attributes) {
    StringBuilder text = new StringBuilder(metric);
    char before = ' ';
    for (var attribute : attributes.entrySet()) {
      text.append(before).append(attribute.getKey()).append('=').append(attribute.getValue());
      before = ',';
    }
    if (text.length() <= LONGEST) {
      return text.toString();
    }
    return text.substring(0, LONGEST) + "#" + Long.toHexString(hash(text));
  }

  /** FNV-1a over the characters: String.hashCode has too few bits to rely on. */
  private static long hash(CharSequence text) {
    long hash = FNV_BASIS;
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * FNV_PRIME;
    }
    return hash;
  }
}
