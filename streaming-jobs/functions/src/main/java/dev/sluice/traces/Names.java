package dev.sluice.traces;

/**
 * One string for equal names, so that spans that were read from bytes share theirs and compare them
 * by reference. Fixed in size; a collision replaces. Any thread may call it: at worst two threads
 * do not share a string.
 */
final class Names {
  private static final int SLOTS = 1 << 12;
  private static final String[] KNOWN = new String[SLOTS];

  private Names() {}

  static String shared(String name) {
    int hash = name.hashCode();
    int slot = (hash ^ hash >>> 12) & (SLOTS - 1);
    String known = KNOWN[slot];
    if (name.equals(known)) {
      return known;
    }
    KNOWN[slot] = name;
    return name;
  }
}
