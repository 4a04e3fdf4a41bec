package dev.sluice.trees;

import dev.sluice.bounds.Variants;

/**
 * Texts of trees. Most trees were seen before: the last few shapes are kept, and compared node by
 * node, which costs less than writing a text.
 */
public final class TreeTexts {
  /**
   * @param hash by {@link Variants#hash}
   */
  record Text(String text, long hash) {}

  private record Known(Entry root, Text text) {}

  private static final int SLOT_BITS = 7;

  /** Larger trees are written each time: 100 nodes and their text take about 40 kB. */
  private static final int MOST_NODES = 100;

  private final Known[] known = new Known[1 << SLOT_BITS];

  /**
   * @param root arranged
   * @param nodes of the tree
   */
  Text of(Entry root, int nodes) {
    if (nodes > MOST_NODES) {
      return write(root);
    }
    int slot = (int) (root.shape() >>> Long.SIZE - SLOT_BITS);
    Known last = known[slot];
    if (last == null || !last.root.isLike(root)) {
      last = new Known(root, write(root));
      known[slot] = last;
    }
    return last.text;
  }

  private static Text write(Entry root) {
    String text = TreeText.of(root);
    return new Text(text, Variants.hash(text));
  }
}
