package dev.sluice.bounds;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/**
 * The names of one kind that are counted separately: those of the present window of time and of the
 * one before, together up to a limit. A new name without room counts as the rest until a window
 * ends. So a name that occurs in every window is never displaced by names that flood one.
 *
 * <p>Worked example, at most 2: a, b, c in one window keep a and b. In the next, b and d keep b
 * alone (a still has its place). In the one after it, d has the place of a.
 */
final class KnownNames {
  private static final int RECENT = 1 << 8;

  private final int most;
  private Set<Name> present = new HashSet<>();
  private Set<Name> before = new HashSet<>();
  // Number of names of the window before that occurred again.
  private int again;

  // Answers of this window: they stay valid, as room only shrinks within a window.
  private final Name[] recent = new Name[RECENT];
  private final boolean[] answers = new boolean[RECENT];

  KnownNames(int most) {
    this.most = most;
  }

  /** Whether the name counts separately; from now on it does if there is room. */
  boolean isSeparate(String service, String name) {
    int slot = (31 * service.hashCode() + name.hashCode()) & (RECENT - 1);
    Name last = recent[slot];
    if (last == null || !last.name().equals(name) || !last.service().equals(service)) {
      last = new Name(service, name);
      answers[slot] = admit(last);
      recent[slot] = last;
    }
    return answers[slot];
  }

  /** The name, if it counts separately or is empty; else {@link Rest#NAME}. */
  String nameOrRest(String service, String name) {
    return name.isEmpty() || name.equals(Rest.NAME) || isSeparate(service, name) ? name : Rest.NAME;
  }

  private boolean admit(Name name) {
    if (present.contains(name)) {
      return true;
    }
    boolean known = before.contains(name);
    if (!known && present.size() + before.size() - again >= most) {
      return false;
    }
    present.add(name);
    again += known ? 1 : 0;
    return true;
  }

  /** The window has ended, and the next one begins. */
  void turn() {
    before = present;
    present = new HashSet<>();
    again = 0;
    Arrays.fill(recent, null);
  }

  void write(DataOutput out) throws IOException {
    write(before, out);
    write(present, out);
  }

  /** Adds what {@link #write} wrote. */
  void read(DataInput in) throws IOException {
    read(in, before);
    read(in, present);
    again = 0;
    for (Name name : present) {
      again += before.contains(name) ? 1 : 0;
    }
  }

  private static void write(Set<Name> names, DataOutput out) throws IOException {
    out.writeInt(names.size());
    for (Name name : names) {
      out.writeUTF(name.service());
      out.writeUTF(name.name());
    }
  }

  private static void read(DataInput in, Set<Name> names) throws IOException {
    for (int left = in.readInt(); left > 0; left--) {
      names.add(new Name(in.readUTF(), in.readUTF()));
    }
  }
}
