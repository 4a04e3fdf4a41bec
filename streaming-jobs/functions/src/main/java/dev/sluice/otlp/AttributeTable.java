package dev.sluice.otlp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The attributes that name a span's service, instance, host and peer, and the amount of data that
 * it moved: {@code attributes.csv} as a hash table over the names' UTF-8 bytes. Any other attribute
 * costs one look-up.
 */
final class AttributeTable {
  /** The meaning of an attribute. */
  enum Role {
    SERVICE,
    INSTANCE,
    HOST,
    PEER,
    ADDRESS,
    /** A text with an address, perhaps with a port. */
    LOCATION,
    NAMESPACE,
    /** The port of the address of the same rank. */
    PORT,
    DROPPED,
    ROWS,
    REQUEST,
    RESPONSE,
    HTTP_CODE,
    RPC_CODE,
    /** The kind of Jaeger's sampler that kept the trace. */
    SAMPLER,
    /** Its parameter. */
    SAMPLER_PARAM,
    /** How many traces one that was kept stands for. */
    SAMPLE_RATE,
    /** The probability with which the trace was kept. */
    PROBABILITY,
    /** A sampler that decided when the trace had ended names its policy. */
    TAIL_POLICY,
    /** Patterns match its value; the rank is its number among these attributes. */
    MATCHED;

    /** Whether its value is a number. */
    boolean isNumber() {
      return compareTo(DROPPED) >= 0 && compareTo(RESPONSE) <= 0;
    }

    /** Whether its value is a number or a text. */
    boolean isCode() {
      return this == HTTP_CODE || this == RPC_CODE;
    }

    /** Whether its value is a number with a fraction, or a text with one. */
    boolean isDecimal() {
      return compareTo(SAMPLER_PARAM) >= 0 && compareTo(PROBABILITY) <= 0;
    }
  }

  /** One line of the table. */
  record Entry(Role role, int rank, byte[] name) {}

  /** The result of {@link #find} for a name that is not in the table. */
  static final Entry[] NONE = {};

  private static final String RESOURCE = "attributes.csv";
  private static final int SLOTS = 256;

  /** Ranks of the table's lines are below this. */
  static final int RANKS = 32;

  private final Entry[][] slots = new Entry[SLOTS][];
  // By length, one bit for each last byte (its lower six bits). It excludes most attributes without
  // a hash.
  private final long[] ends = new long[Long.SIZE];

  AttributeTable(List<Entry> entries) {
    for (Entry entry : entries) {
      if (entry.name.length == 0 || entry.name.length >= Long.SIZE) {
        throw new IllegalArgumentException("attribute name is not of 1 to 63 bytes: " + entry);
      }
      if (entry.role != Role.MATCHED && (entry.rank < 1 || entry.rank >= RANKS)) {
        throw new IllegalArgumentException("rank is not of 1 to " + (RANKS - 1) + ": " + entry);
      }
      ends[entry.name.length] |= 1L << entry.name[entry.name.length - 1];
      int slot = Bytes.hash(entry.name, 0, entry.name.length) & (SLOTS - 1);
      while (slots[slot] != null && !Arrays.equals(slots[slot][0].name, entry.name)) {
        slot = (slot + 1) & (SLOTS - 1);
      }
      Entry[] known = slots[slot] == null ? NONE : slots[slot];
      slots[slot] = Arrays.copyOf(known, known.length + 1);
      slots[slot][known.length] = entry;
    }
  }

  /**
   * The table that ships with this module.
   *
   * @param matched names of further attributes that are matched with patterns
   */
  static AttributeTable load(List<String> matched) {
    try (InputStream in = AttributeTable.class.getResourceAsStream(RESOURCE)) {
      List<Entry> entries =
          parse(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)));
      for (int i = 0; i < matched.size(); i++) {
        entries.add(new Entry(Role.MATCHED, i, matched.get(i).getBytes(StandardCharsets.UTF_8)));
      }
      return new AttributeTable(entries);
    } catch (IOException e) {
      throw new UncheckedIOException("read " + RESOURCE, e);
    }
  }

  static List<Entry> parse(BufferedReader lines) throws IOException {
    List<Entry> entries = new ArrayList<>();
    boolean header = true;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      if (header) {
        header = false;
        continue;
      }
      String[] cells = line.split(",", 4);
      entries.add(
          new Entry(
              Role.valueOf(cells[0].toUpperCase(Locale.ROOT)),
              Integer.parseInt(cells[1]),
              cells[2].getBytes(StandardCharsets.UTF_8)));
    }
    return entries;
  }

  /** The entries of this name, which may have several roles; {@link #NONE} if there are none. */
  Entry[] find(byte[] bytes, int offset, int length) {
    if (length == 0
        || length >= Long.SIZE
        || (ends[length] & (1L << bytes[offset + length - 1])) == 0) {
      return NONE;
    }
    int slot = Bytes.hash(bytes, offset, length) & (SLOTS - 1);
    for (Entry[] entries = slots[slot]; entries != null; entries = slots[slot]) {
      byte[] name = entries[0].name;
      if (Arrays.equals(name, 0, name.length, bytes, offset, offset + length)) {
        return entries;
      }
      slot = (slot + 1) & (SLOTS - 1);
    }
    return NONE;
  }
}
