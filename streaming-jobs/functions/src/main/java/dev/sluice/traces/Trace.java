package dev.sluice.traces;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An assembled trace: its spans by id, each once.
 *
 * <p>The first of several spans with the same id is kept; spans beyond the bound are left out. Both
 * kinds are kept separately, for the accounts. A CLIENT and a SERVER span of one id are no repeat:
 * both stay, and the SERVER span gets an id of its own ({@link SharedIds}).
 *
 * <p>Spans have numbers, in the order in which they arrived. Parents and children are found by
 * number, in arrays: a map of lists costs more than everything that is read from it.
 */
public final class Trace {
  /** The number of no span. */
  public static final int NONE = IdTable.NONE;

  private final IdTable numbers;
  private final List<TraceSpan> duplicates = new ArrayList<>(0);
  private final List<TraceSpan> excess = new ArrayList<>(0);
  private TraceSpan[] spans;
  private int size;
  private boolean sharesIds;
  private List<TraceSpan> kept;
  private int[] parents;
  // The children of span i are children[first[i]] to children[first[i + 1] - 1].
  private int[] first;
  private int[] children;

  private Trace(int most) {
    numbers = new IdTable(most);
    spans = new TraceSpan[most];
  }

  /**
   * Assembles a trace.
   *
   * @param spans in order of arrival
   * @param maxSpans how many spans are kept
   */
  public static Trace assemble(Collection<TraceSpan> spans, int maxSpans) {
    Trace trace = new Trace(Math.min(spans.size(), maxSpans));
    for (TraceSpan span : spans) {
      trace.add(span);
    }
    if (trace.sharesIds) {
      trace = apart(spans, maxSpans);
    }
    trace.link();
    return trace;
  }

  private static Trace apart(Collection<TraceSpan> spans, int maxSpans) {
    Trace trace = new Trace(Math.min(spans.size(), maxSpans));
    for (TraceSpan span : SharedIds.apart(trace.keep(spans, maxSpans))) {
      trace.add(span);
    }
    return trace;
  }

  private void add(TraceSpan span) {
    boolean room = size < spans.length;
    int known = room ? numbers.putIfAbsent(span.spanId(), size) : numbers.find(span.spanId());
    if (known != NONE) {
      sharesIds |= SharedIds.isPair(spans[known], span);
      duplicates.add(span);
    } else if (room) {
      spans[size++] = span;
    } else {
      excess.add(span);
    }
  }

  /** The spans that are kept, where a shared id counts for both sides; sets others aside. */
  private List<TraceSpan> keep(Collection<TraceSpan> spans, int maxSpans) {
    Set<Long> keys = new HashSet<>();
    List<TraceSpan> kept = new ArrayList<>();
    for (TraceSpan span : spans) {
      long key = SharedIds.key(span);
      if (keys.contains(key)) {
        duplicates.add(span);
      } else if (keys.size() >= maxSpans) {
        excess.add(span);
      } else {
        keys.add(key);
        kept.add(span);
      }
    }
    return kept;
  }

  private void link() {
    if (size < spans.length) {
      spans = Arrays.copyOf(spans, size);
    }
    kept = Arrays.asList(spans);
    parents = new int[size];
    first = new int[size + 1];
    for (int i = 0; i < size; i++) {
      long id = spans[i].parentId();
      parents[i] = id == 0 ? NONE : numbers.find(id);
      if (parents[i] != NONE) {
        first[parents[i]]++;
      }
    }
    // Numbers of children become ends of ranges, and each end then moves down to its beginning.
    for (int i = 1; i <= size; i++) {
      first[i] += first[i - 1];
    }
    children = new int[first[size]];
    for (int i = size - 1; i >= 0; i--) {
      if (parents[i] != NONE) {
        children[--first[parents[i]]] = i;
      }
    }
  }

  /** The spans that are kept, in order of arrival. */
  public Collection<TraceSpan> spans() {
    return kept;
  }

  /**
   * The spans that are kept and those that repeat their ids: all that were added while there was
   * room.
   */
  Iterable<TraceSpan> all() {
    return duplicates.isEmpty()
        ? kept
        : () -> Stream.concat(kept.stream(), duplicates.stream()).iterator();
  }

  /** The span of an id, or null. */
  TraceSpan byId(long id) {
    int number = id == 0 ? NONE : numbers.find(id);
    return number == NONE ? null : spans[number];
  }

  /** How many spans are kept; their numbers are 0 to {@code size() - 1}. */
  public int size() {
    return size;
  }

  /** The kept span of a number. */
  public TraceSpan span(int number) {
    return spans[number];
  }

  /** The number of the kept span that has the id of {@code span}; there is one. */
  int numberOf(TraceSpan span) {
    return numbers.find(span.spanId());
  }

  /** The number of the parent; {@link #NONE} for a root and for an orphan. */
  public int parent(int number) {
    return parents[number];
  }

  /** The parent of the span of a number, or null for a root and for an orphan. */
  public TraceSpan parentOf(int number) {
    return parents[number] == NONE ? null : spans[parents[number]];
  }

  /** Where the children of the span of a number begin in {@link #child}, in order of arrival. */
  public int firstChild(int number) {
    return first[number];
  }

  /** Where the children of the span of a number end in {@link #child}, exclusive. */
  public int endOfChildren(int number) {
    return first[number + 1];
  }

  /** The number of the child at a position. */
  public int child(int position) {
    return children[position];
  }

  /** Spans left out because their id was there already. */
  public List<TraceSpan> duplicates() {
    return duplicates;
  }

  /** Spans left out because the trace has more than are kept. */
  public List<TraceSpan> excess() {
    return excess;
  }
}
