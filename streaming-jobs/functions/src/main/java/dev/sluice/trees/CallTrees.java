package dev.sluice.trees;

import dev.sluice.otlp.Span;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.List;

/**
 * The call trees of a trace, one for each root that it holds (Microns' call graphs with serial and
 * parallel stages).
 *
 * <ul>
 *   <li>A node is a service entry: the root, a span whose parent belongs to another service, or a
 *       SERVER span below a CLIENT span (a service that calls itself). It has the operation of that
 *       span. Other spans belong to the entry above them.
 *   <li>A CLIENT span that names a peer, and below which its service enters nothing, is a call to
 *       that peer: a node without operation.
 *   <li>A call takes the time of the caller's CLIENT span, where the callee's parent is one, so
 *       that calls are compared by one clock; else that of the callee's own span.
 *   <li>The calls of an entry, by start: those whose times overlap, directly or through others, are
 *       one parallel stage, and so are those that begin together. Calls that only touch are serial,
 *       and so is one that overlaps those before it by no more than {@link dev.sluice.paths.Serial}
 *       allows.
 *   <li>Asynchronous spans are not waited for, and left out with all spans below them: CONSUMER
 *       spans that are not the root, and roots that are only linked to their trace. A PRODUCER span
 *       calls no peer.
 *   <li>Orphans begin no tree, and rings are reached by none.
 * </ul>
 *
 * <p>Worked example: front's SERVER span "GET /" calls cart [10, 40), price [20, 30) and mail [40,
 * 50): cart and price are one stage, mail is the next.
 *
 * <p>A pure function of the set of spans. O(n log n) time, O(n) memory, no recursion over spans.
 */
public final class CallTrees {
  /**
   * A span that was reached, the entry that it belongs to, and the position of the span above it.
   */
  private static final class Reached {
    final int number;
    final TraceSpan span;
    final int above;
    final Entry entry;
    boolean showsCallee;

    Reached(int number, TraceSpan span, int above, Entry entry) {
      this.number = number;
      this.span = span;
      this.above = above;
      this.entry = entry;
    }
  }

  private static final int NONE = -1;

  private final Trace trace;
  // Parents before children.
  private final List<Reached> reached = new ArrayList<>();
  private final List<Entry> entries = new ArrayList<>();

  private CallTrees(Trace trace) {
    this.trace = trace;
  }

  /**
   * The trees of the trace's roots, in no order.
   *
   * @param texts of earlier trees
   */
  public static List<CallTree> of(Trace trace, TreeTexts texts) {
    List<CallTree> trees = new ArrayList<>(1);
    for (int number = 0; number < trace.size(); number++) {
      TraceSpan span = trace.span(number);
      if (span.parentId() == 0 && !span.linked()) {
        CallTrees tree = new CallTrees(trace);
        TreeTexts.Text written = texts.of(tree.below(number), tree.entries.size());
        trees.add(new CallTree(span, written.text(), written.hash()));
      }
    }
    return trees;
  }

  private Entry below(int root) {
    reach(root, NONE, enter(trace.span(root), null));
    for (int next = 0; next < reached.size(); next++) {
      int number = reached.get(next).number;
      for (int at = trace.firstChild(number); at < trace.endOfChildren(number); at++) {
        visit(trace.child(at), next);
      }
    }
    for (int i = reached.size() - 1; i >= 0; i--) {
      callUnseenPeer(reached.get(i));
    }
    for (int i = entries.size() - 1; i >= 0; i--) {
      entries.get(i).arrange();
    }
    return entries.get(0);
  }

  private void visit(int number, int above) {
    TraceSpan span = trace.span(number);
    Reached parent = reached.get(above);
    if (span.kind() == Span.CONSUMER) {
      parent.showsCallee = true;
    } else if (entersService(span, parent.span)) {
      parent.showsCallee = true;
      Entry entry = enter(span, parent.span);
      parent.entry.call(entry);
      reach(number, NONE, entry);
    } else {
      reach(number, above, parent.entry);
    }
  }

  private static boolean entersService(TraceSpan span, TraceSpan parent) {
    return !span.service().equals(parent.service())
        || (span.kind() == Span.SERVER && parent.kind() == Span.CLIENT);
  }

  private Entry enter(TraceSpan span, TraceSpan caller) {
    Entry entry = Entry.by(span, caller);
    entries.add(entry);
    return entry;
  }

  private void reach(int number, int above, Entry entry) {
    reached.add(new Reached(number, trace.span(number), above, entry));
  }

  /** Called for a span after all below it. */
  private void callUnseenPeer(Reached at) {
    if (at.span.kind() == Span.CLIENT && !at.showsCallee && !at.span.peer().isEmpty()) {
      Entry peer = Entry.unseen(at.span);
      entries.add(peer);
      at.entry.call(peer);
      at.showsCallee = true;
    }
    if (at.showsCallee && at.above != NONE) {
      reached.get(at.above).showsCallee = true;
    }
  }
}
