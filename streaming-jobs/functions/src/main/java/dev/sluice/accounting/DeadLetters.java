package dev.sluice.accounting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The dead letters of one message: the first {@value #PER_REASON} of each reason. A span can be two
 * bytes long, so a message can hold millions of bad spans. The last letter of a reason has the
 * number of further ones.
 */
public final class DeadLetters {
  static final int PER_REASON = 10;

  private final List<DeadLetter> letters = new ArrayList<>();
  // By the reason's ordinal: the number of letters, and the place of the last one that was kept.
  private final long[] came = new long[Outcome.values().length];
  private final int[] last = new int[came.length];

  /**
   * @param letter called only for a letter that is kept
   */
  public void add(Outcome reason, Supplier<DeadLetter> letter) {
    if (came[reason.ordinal()]++ < PER_REASON) {
      last[reason.ordinal()] = letters.size();
      letters.add(letter.get());
    }
  }

  /** The letters in the order of their spans and messages. */
  public List<DeadLetter> list() {
    List<DeadLetter> list = new ArrayList<>(letters);
    for (Outcome reason : Outcome.values()) {
      long more = came[reason.ordinal()] - PER_REASON;
      if (more > 0) {
        list.set(last[reason.ordinal()], letters.get(last[reason.ordinal()]).andMore(more));
      }
    }
    return list;
  }

  public void clear() {
    letters.clear();
    Arrays.fill(came, 0);
  }
}
