package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TraceIdTest {
  /** 31 * (5 ^ 1) + 2 = 126: the same in every process, as the order of traces has to be. */
  @Test
  void hashIsThatOfItsHalves() {
    assertThat(new TraceId((5L << 32) + 1, 2).hashCode()).isEqualTo(126);
  }

  @Test
  void bytesAndBack() {
    TraceId id = new TraceId(-3, 1L << 40);
    assertThat(TraceId.of(id.toBytes())).isEqualTo(id).hasSameHashCodeAs(id);
  }
}
