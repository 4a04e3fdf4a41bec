package dev.sluice.trees;

import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.FunctionHint;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.types.Row;

/**
 * SQL {@code most_frequent(text, times)}: the text that occurs most, how often, and the total
 * number. See {@link Tally} for ties and bounds.
 */
@FunctionHint(
    input = {@DataTypeHint("STRING"), @DataTypeHint("BIGINT")},
    output = @DataTypeHint("ROW<text STRING, occurrences BIGINT NOT NULL, total BIGINT NOT NULL>"))
public final class MostFrequent extends AggregateFunction<Row, Tally> {
  private static final long serialVersionUID = 1L;

  @Override
  public Tally createAccumulator() {
    return new Tally();
  }

  public void accumulate(Tally tally, String text, Long times) {
    if (text != null && times != null) {
      if (CallTree.isOther(text)) {
        tally.others += times;
      } else {
        tally.add(text, times);
      }
    }
  }

  /** Lets Flink count before and after the shuffle. */
  public void merge(Tally tally, Iterable<Tally> parts) {
    for (Tally part : parts) {
      tally.merge(part);
    }
  }

  @Override
  public Row getValue(Tally tally) {
    String text = tally.mostFrequent();
    return Row.of(text, tally.count(text), tally.total());
  }
}
