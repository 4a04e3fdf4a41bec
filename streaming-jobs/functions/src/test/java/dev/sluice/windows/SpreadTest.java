package dev.sluice.windows;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SpreadTest {
  private static final long MS = 1_000_000;

  private final Spread spread = new Spread(100, 1_000);

  @Test
  void touchedCountsOverlapsAndTheCompletion() {
    // [80, 230) lies on 0, 100, 200; [50, 100) on 0 and completes in 100; 200 only completes
    assertThat(spread.touched(80 * MS, 230 * MS)).isEqualTo(3);
    assertThat(spread.touched(50 * MS, 100 * MS)).isEqualTo(2);
    assertThat(spread.touched(200 * MS, 200 * MS)).isEqualTo(1);
    assertThat(spread.touched(210 * MS, 220 * MS)).isEqualTo(1);
  }

  @Test
  void ofALongSpanTheNewestPartIsSpread() {
    // [0, 5050): [4050, 5050) lies on 11 buckets, 4000 to 5000
    assertThat(spread.cuts(0, 5_050 * MS)).isTrue();
    assertThat(spread.touched(0, 5_050 * MS)).isEqualTo(11);
    assertThat(spread.overlapNs(40, 0, 5_050 * MS)).isEqualTo(50 * MS);
    assertThat(spread.cuts(4_050 * MS, 5_050 * MS)).isFalse();
  }

  @Property
  void overlapsSumToWhatIsSpread(
      @ForAll @LongRange(min = 1, max = 3_000 * MS) long start,
      @ForAll @LongRange(min = 0, max = 2_000 * MS) long duration) {
    long end = start + duration;
    long sum = 0;
    long buckets = 0;
    for (long bucket = spread.oldest(start, end); bucket <= spread.newest(end); bucket++) {
      assertThat(spread.overlapNs(bucket, start, end)).isNotNegative();
      sum += spread.overlapNs(bucket, start, end);
      buckets++;
    }
    assertThat(sum).isEqualTo(Math.min(duration, 1_000 * MS));
    boolean completesApart = spread.newest(end) != spread.completedIn(end) || buckets == 0;
    assertThat(spread.touched(start, end)).isEqualTo(buckets + (completesApart ? 1 : 0));
  }
}
