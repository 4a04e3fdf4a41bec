package dev.sluice.trees;

import dev.sluice.json.JsonText;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;

/**
 * Writes a tree as compact JSON. Stages follow one another; within a stage the order is that of
 * service and operation, so that it is not chance which of two parallel calls comes first:
 *
 * <pre>
 * {"service":"front","operation":"GET /","stages":[
 *   [{"service":"cart","operation":"read","stages":[[{"service":"db"}]]},{"service":"price","operation":"quote"}],
 *   [{"service":"mail","operation":"send"}]]}
 * </pre>
 *
 * (without the line breaks). If a tree has more than {@value #MAX_NODES} nodes, or {@value
 * #MAX_CHARS} characters, the text has its first nodes, level by level, and the root has {@code
 * "cut":true}.
 */
final class TreeText {
  static final int MAX_NODES = 500;
  static final int MAX_CHARS = 16_384;

  private static final String CUT = ",\"cut\":true";
  // [] of a stage of its own, and the comma before it.
  private static final int STAGE_CHARS = 3;

  private final StringBuilder text = new StringBuilder();
  private final Set<Entry> kept = Collections.newSetFromMap(new IdentityHashMap<>());

  private TreeText() {}

  static String of(Entry root) {
    TreeText tree = new TreeText();
    boolean whole = tree.keep(root);
    tree.write(root, whole ? "" : CUT);
    return tree.text.toString();
  }

  /** Chooses the nodes to write; returns whether that is all of them. */
  private boolean keep(Entry root) {
    int chars = CUT.length();
    Queue<Entry> queue = new ArrayDeque<>();
    queue.add(root);
    for (Entry entry = queue.poll(); entry != null; entry = queue.poll()) {
      chars += chars(entry);
      if (kept.size() == MAX_NODES || chars > MAX_CHARS) {
        return false;
      }
      kept.add(entry);
      entry.stages.forEach(queue::addAll);
    }
    return true;
  }

  /** At most this many characters more than without the node. */
  private int chars(Entry entry) {
    open(entry);
    text.append(",\"stages\":[]}");
    int chars = text.length() + STAGE_CHARS;
    text.setLength(0);
    return chars;
  }

  private void open(Entry entry) {
    text.append("{\"service\":");
    JsonText.appendString(text, entry.service);
    if (!entry.operation.isEmpty()) {
      text.append(",\"operation\":");
      JsonText.appendString(text, entry.operation);
    }
  }

  /** Recursion is as deep as the tree, which has {@value #MAX_NODES} nodes at most. */
  private void write(Entry entry, String mark) {
    open(entry);
    text.append(mark);
    String before = ",\"stages\":[[";
    for (List<Entry> stage : entry.stages) {
      boolean begun = false;
      for (Entry call : stage) {
        if (kept.contains(call)) {
          text.append(begun ? "," : before);
          write(call, "");
          begun = true;
        }
      }
      if (begun) {
        text.append(']');
        before = ",[";
      }
    }
    text.append(before.startsWith(",[") ? "]}" : "}");
  }
}
