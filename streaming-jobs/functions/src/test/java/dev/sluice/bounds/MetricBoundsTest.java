package dev.sluice.bounds;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** One host, two instances and two series at a time, in windows of 60 s. */
class MetricBoundsTest {
  private final MetricBounds bounds = new MetricBounds(new Limits(60_000, 9, 2, 1, 9, 9, 2, 9));

  @Test
  void eachPartitionHasItsOwnBounds() {
    bounds.at(0, 0);
    assertThat(bounds.host("a")).isEqualTo("a");
    assertThat(bounds.host("b")).isEqualTo("(more)");
    bounds.at(1, 0);
    assertThat(bounds.host("b")).isEqualTo("b");
    bounds.at(0, 59_999);
    assertThat(bounds.host("b")).isEqualTo("(more)");
    bounds.at(0, 180_000);
    assertThat(bounds.host("b")).isEqualTo("b");
  }

  @Test
  void anInstanceIsOneOfItsHost() {
    bounds.at(0, 0);
    assertThat(bounds.instance("a", "x")).isEqualTo("x");
    assertThat(bounds.instance("", "x")).isEqualTo("x");
    assertThat(bounds.instance("a", "y")).isEqualTo("(more)");
    assertThat(bounds.instance("a", "")).isEmpty();
    assertThat(bounds.instance("(more)", "x")).isEqualTo("(more)");
    assertThat(bounds.instance("(more)", "")).isEmpty();
  }

  @Test
  void aSeriesIsOneOfItsHostInstanceAndStart() {
    bounds.at(0, 0);
    assertThat(bounds.isSeparateSeries("a", "", "cpu", 0)).isTrue();
    assertThat(bounds.isSeparateSeries("(more)", "", "cpu", 0)).isFalse();
    assertThat(bounds.isSeparateSeries("a", "(more)", "cpu", 0)).isFalse();
    assertThat(bounds.isSeparateSeries("a", "", "cpu", 1)).isTrue();
    assertThat(bounds.isSeparateSeries("b", "", "cpu", 0)).isFalse();
    assertThat(bounds.isSeparateSeries("a", "", "cpu", 1)).isTrue();
  }
}
