package dev.sluice.trees;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

class TallyTest {
  private static Tally of(String... texts) {
    Tally tally = new Tally();
    for (String text : texts) {
      tally.add(text, 1);
    }
    return tally;
  }

  @Test
  void mostFrequentWinsAndOfSeveralTheFirstInOrder() {
    assertThat(of("b", "a", "c", "b").mostFrequent()).isEqualTo("b");
    assertThat(of("b", "a", "c", "c", "b").mostFrequent()).isEqualTo("b");
    assertThat(of("b", "c", "b", "c").mostFrequent()).isEqualTo("b");
    assertThat(of("c", "b", "c", "b").mostFrequent()).isEqualTo("b");
    assertThat(of().mostFrequent()).isNull();
  }

  @Test
  void partsSumInAnyOrder() {
    Tally ab = of("a", "b", "b");
    ab.merge(of("a", "a"));
    Tally ba = of("a", "a");
    ba.merge(of("a", "b", "b"));
    assertThat(ab.mostFrequent()).isEqualTo(ba.mostFrequent()).isEqualTo("a");
    assertThat(ab.count("a")).isEqualTo(3);
    assertThat(ab.total()).isEqualTo(ba.total()).isEqualTo(5);
  }

  @Test
  void aTreeBeyondTheBoundCountsInTheTotalOnly() {
    Tally tally = new Tally();
    for (int i = 0; i < Tally.MAX_TEXTS; i++) {
      tally.add("kept" + i, 2);
    }
    tally.add("late", 7);
    tally.add("kept0", 1);
    assertThat(tally.mostFrequent()).isEqualTo("kept0");
    assertThat(tally.total()).isEqualTo(2 * Tally.MAX_TEXTS + 7 + 1);
    Tally other = of("late");
    other.merge(tally);
    assertThat(other.counts).hasSize(Tally.MAX_TEXTS);
    assertThat(other.total()).isEqualTo(tally.total() + 1);
  }

  @Test
  void sqlFunctionGivesTextCountAndTotal() {
    MostFrequent function = new MostFrequent();
    Tally tally = function.createAccumulator();
    assertThat(function.getValue(tally)).isEqualTo(Row.of(null, 0L, 0L));
    for (String text : new String[] {"a", "b", null, "b"}) {
      function.accumulate(tally, text, 1L);
    }
    assertThat(function.getValue(tally)).isEqualTo(Row.of("b", 2L, 3L));
  }

  @Test
  void treesThatAreNotToldApartCountInTheTotalOnly() {
    MostFrequent function = new MostFrequent();
    Tally tally = function.createAccumulator();
    function.accumulate(tally, "{\"service\":\"a\",\"operation\":\"b\"}", 2L);
    function.accumulate(
        tally, "{\"service\":\"a\",\"operation\":\"b\",\"cut\":true,\"other\":true}", 7L);
    assertThat(function.getValue(tally))
        .isEqualTo(Row.of("{\"service\":\"a\",\"operation\":\"b\"}", 2L, 9L));
  }
}
