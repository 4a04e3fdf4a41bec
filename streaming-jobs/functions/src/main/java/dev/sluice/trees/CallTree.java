package dev.sluice.trees;

import dev.sluice.bounds.Variants;
import dev.sluice.json.JsonText;
import dev.sluice.traces.TraceSpan;

/**
 * The services that a root waited for, in stages.
 *
 * @param root the span that began the tree
 * @param text the tree as {@link TreeText} writes it: trees of the same shape have the same text
 * @param hash of the text, by {@link Variants#hash}
 */
public record CallTree(TraceSpan root, String text, long hash) {
  private static final String OTHER = ",\"cut\":true,\"other\":true}";

  /** Stands for the trees of a root that do not count separately. */
  public static CallTree other(TraceSpan root) {
    StringBuilder text = new StringBuilder("{\"service\":");
    JsonText.appendString(text, root.service());
    text.append(",\"operation\":");
    JsonText.appendString(text, root.operation());
    String other = text.append(OTHER).toString();
    return new CallTree(root, other, Variants.hash(other));
  }

  /** Whether the text stands for trees that do not count separately. */
  static boolean isOther(String text) {
    return text.endsWith(OTHER);
  }
}
