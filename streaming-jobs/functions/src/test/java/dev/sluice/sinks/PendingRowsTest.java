package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PendingRowsTest {
  // name, window, value; a row takes 160 + 56 + the length of its name + 2 x 24 bytes.
  private static final int[] KEY = {0};
  private static final int WINDOW = 1;
  private static final long BYTES_OF_A = 265;

  private static Object[] row(String name, long window, int value) {
    return new Object[] {name, window, value};
  }

  private static PendingRows pending(int maxRows, long maxBytes) {
    return new PendingRows(KEY, WINDOW, new BufferBounds(maxRows, maxBytes));
  }

  private static List<String> names(List<Object[]> rows) {
    return rows.stream().map(row -> row[0] + "" + row[1] + ":" + row[2]).toList();
  }

  @Test
  void theNewestWindowOfAKeyStaysWhateverTheOrder() {
    PendingRows pending = pending(10, 1 << 20);
    pending.put(row("a", 20, 1), 0);
    pending.put(row("b", 10, 1), 0);
    pending.put(row("a", 10, 9), 0);
    pending.put(row("b", 20, 2), 0);
    assertThat(names(pending.all())).containsExactly("a20:1", "b20:2");
  }

  @Test
  void ofOneWindowTheLastRowStays() {
    PendingRows pending = pending(10, 1 << 20);
    pending.put(row("a", 10, 5), 0);
    pending.put(row("a", 10, 3), 0);
    assertThat(names(pending.all())).containsExactly("a10:3");
    PendingRows unordered = new PendingRows(KEY, -1, new BufferBounds(10, 1 << 20));
    unordered.put(row("a", 20, 1), 0);
    unordered.put(row("a", 10, 2), 0);
    assertThat(names(unordered.all())).containsExactly("a10:2");
  }

  @Test
  void theOldestAreShedWhenThereAreTooManyRows() {
    PendingRows pending = pending(3, 1 << 20);
    for (int n = 0; n < 5; n++) {
      pending.put(row("abcde".substring(n, n + 1), 10, n), n);
    }
    assertThat(names(pending.all())).containsExactly("c10:2", "d10:3", "e10:4");
    assertThat(pending.shed()).isEqualTo(2);
    assertThat(pending.oldestSinceMs()).isEqualTo(2);
  }

  @Test
  void theOldestAreShedWhenTheyTakeTooMuchMemory() {
    PendingRows pending = pending(100, 3 * BYTES_OF_A + 100);
    pending.put(row("a", 10, 0), 0);
    pending.put(row("b", 10, 0), 0);
    pending.put(row("c", 10, 0), 0);
    assertThat(pending.bytes()).isEqualTo(3 * BYTES_OF_A);
    assertThat(pending.shed()).isZero();
    // 265 + 199 more: two have to go.
    pending.put(row("d".repeat(200), 10, 0), 0);
    assertThat(pending.shed()).isEqualTo(2);
    assertThat(pending.bytes()).isEqualTo(2 * BYTES_OF_A + 199);
    // A row in place of another counts once.
    pending.put(row("c", 20, 0), 0);
    assertThat(pending.bytes()).isEqualTo(2 * BYTES_OF_A + 199);
  }

  @Test
  void aBatchCountsUntilItIsDoneAndIsNotShed() {
    PendingRows pending = pending(3, 1 << 20);
    for (String name : List.of("a", "b", "c")) {
      pending.put(row(name, 10, 0), 7);
    }
    assertThat(names(pending.take(2, 1 << 20))).containsExactly("a10:0", "b10:0");
    assertThat(pending.waiting()).isEqualTo(1);
    pending.put(row("a", 10, 1), 8);
    pending.put(row("d", 10, 0), 9);
    // c and then a made room for what came; the batch stays.
    assertThat(names(pending.all())).containsExactly("a10:0", "b10:0", "d10:0");
    assertThat(pending.shed()).isEqualTo(2);
    assertThat(pending.oldestSinceMs()).isEqualTo(7);
    pending.done();
    assertThat(names(pending.all())).containsExactly("d10:0");
    assertThat(pending.bytes()).isEqualTo(BYTES_OF_A);
    assertThat(pending.oldestSinceMs()).isEqualTo(9);
    pending.take(2, 1 << 20);
    pending.done();
    assertThat(pending.bytes()).isZero();
    assertThat(pending.oldestSinceMs()).isZero();
  }

  @Test
  void aBatchIsBoundedInBytesAndHasAtLeastOneRow() {
    PendingRows pending = pending(100, 1 << 20);
    for (String name : List.of("a", "b", "c")) {
      pending.put(row(name, 10, 0), 0);
    }
    assertThat(pending.take(100, 1)).hasSize(1);
    pending.done();
    assertThat(pending.take(100, 2 * BYTES_OF_A)).hasSize(2);
  }

  @Test
  void aKeyThatChangesOftenKeepsItsPlace() {
    PendingRows pending = pending(100, 1 << 20);
    pending.put(row("a", 10, 0), 1);
    pending.put(row("b", 10, 0), 2);
    pending.put(row("a", 20, 0), 3);
    assertThat(names(pending.take(1, 1 << 20))).containsExactly("a20:0");
    assertThat(pending.oldestSinceMs()).isEqualTo(1);
  }
}
