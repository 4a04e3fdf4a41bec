package dev.sluice.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.table.data.MapData;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
  private static LatencyHistogram of(List<Long> durations) {
    LatencyHistogram histogram = new LatencyHistogram();
    durations.forEach(histogram::record);
    return histogram;
  }

  @Test
  void countsByIndex() {
    // 1 ms -> 1275; 1,000,001 ns is in the same bucket; 2 ns -> 63
    assertThat(of(List.of(1_000_000L, 1_000_001L, 2L)).toMap())
        .isEqualTo(Map.of((short) 1275, 2, (short) 63, 1));
  }

  @Test
  void encodingIsPairsOfDistanceAndCount() {
    LatencyHistogram histogram = new LatencyHistogram();
    histogram.add(-1, 1);
    histogram.add(63, 300);
    // distance 0 from -1, count 1 -> 2; distance 64, count 300 -> 600 = 0b100_1011000
    assertThat(histogram.encode()).containsExactly(0, 2, 64, (byte) 0xD8, 4);
    assertThat(new LatencyHistogram().encode()).isEmpty();
  }

  @Property
  void partsSumToTheWholeInAnyOrder(
      @ForAll List<@LongRange(min = 0, max = 1L << 45) Long> first,
      @ForAll List<@LongRange(min = 0, max = 1L << 45) Long> second) {
    LatencyHistogram whole = of(first);
    second.forEach(whole::record);
    LatencyHistogram merged = new LatencyHistogram();
    merged.merge(of(second).encode());
    merged.merge(of(first));
    assertThat(merged).isEqualTo(whole);
    assertThat(merged.encode()).isEqualTo(whole.encode());
    assertThat(merged.total()).isEqualTo(first.size() + second.size());
  }

  @Test
  void aCellThatBecomesEmptyIsLeftOut() {
    LatencyHistogram histogram = of(List.of(2L, 1_000_000L));
    LatencyHistogram back = new LatencyHistogram();
    back.add(63, -1);
    back.add(1275, -2);
    // distance 64, count -1 -> 1; distance 1212 = 0b1001_0111100, count -2 -> 3
    assertThat(back.encode()).containsExactly(64, 1, (byte) 0xBC, 9, 3);
    histogram.merge(back.encode());
    assertThat(histogram.toMap()).isEqualTo(Map.of((short) 1275, -1));
    // 1276 = 0b1001_1111100 from the first, since the empty one is left out
    assertThat(histogram.encode()).containsExactly((byte) 0xFC, 9, 1);
    assertThat(histogram.total()).isEqualTo(-1);
    assertThat(new MergeLatency().getValue(histogram).size()).isZero();
  }

  @Test
  void mapHasKeysAscendingAndPositiveCountsOnly() {
    LatencyHistogram histogram = of(List.of(1_000_000L, 1_000_001L, 2L));
    histogram.add(70, -1);
    MapData map = histogram.toMapData();
    assertThat(map.keyArray().toShortArray()).containsExactly((short) 63, (short) 1275);
    assertThat(map.valueArray().toIntArray()).containsExactly(1, 2);
  }

  @Property
  void manyPartsSumToTheWhole(@ForAll List<@Size(max = 40) List<@LongRange(min = 0) Long>> parts) {
    LatencyHistogram whole = new LatencyHistogram();
    LatencyHistogram merged = new LatencyHistogram();
    for (List<Long> part : parts) {
      part.forEach(whole::record);
      merged.merge(of(part).encode());
    }
    assertThat(merged).isEqualTo(whole);
  }

  /** Durations of two octaves, so that the counts become dense, and a few far from them. */
  @Property
  void denseCountsAreThoseOfAMap(
      @ForAll @Size(max = 600) List<@LongRange(min = 1_000_000, max = 4_000_000) Long> near,
      @ForAll @Size(max = 4) List<@LongRange(min = 0) Long> far,
      @ForAll @Size(max = 40) List<@LongRange(min = 1_000_000, max = 4_000_000) Long> after) {
    LatencyHistogram histogram = new LatencyHistogram();
    Map<Short, Integer> map = new TreeMap<>();
    for (List<Long> part : List.of(near, far, after)) {
      for (long ns : part) {
        histogram.record(ns);
        map.merge((short) LatencyIndex.of(ns), 1, Integer::sum);
      }
    }
    assertThat(histogram.toMap()).isEqualTo(map);
    assertThat(histogram.copy()).isEqualTo(histogram);
    LatencyHistogram merged = of(after);
    merged.merge(histogram);
    merged.merge(histogram.encode());
    map.replaceAll((index, count) -> 2 * count);
    after.forEach(ns -> map.merge((short) LatencyIndex.of(ns), 1, Integer::sum));
    assertThat(merged.toMap()).isEqualTo(map);
    assertThat(merged.total()).isEqualTo(2 * histogram.total() + after.size());
  }

  /** 100 neighbours make it dense; the smallest and the largest duration are at its ends. */
  @Test
  void denseCountsReachTheFirstAndTheLastIndex() {
    LatencyHistogram histogram = new LatencyHistogram();
    for (int index = 1_000; index < 1_100; index++) {
      histogram.add(index, 1);
    }
    histogram.record(0);
    histogram.record(Long.MAX_VALUE);
    assertThat(histogram.toMap())
        .hasSize(102)
        .containsEntry((short) -1, 1)
        // ceil(log2(2^63 - 1) * 64) - 1 = 63 * 64 - 1
        .containsEntry((short) 4031, 1);
  }

  @Property
  void encodingKeepsEveryCount(@ForAll List<Integer> counts) {
    LatencyHistogram histogram = new LatencyHistogram();
    for (int i = 0; i < counts.size(); i++) {
      histogram.add(7 * i - 1, counts.get(i));
    }
    LatencyHistogram decoded = new LatencyHistogram();
    decoded.merge(histogram.encode());
    assertThat(decoded).isEqualTo(histogram);
  }

  @Property
  void serializerKeepsIt(@ForAll List<@LongRange(min = 0) Long> durations) throws Exception {
    LatencyHistogram histogram = of(durations);
    LatencyHistogramSerializer serializer = new LatencyHistogramSerializer();
    DataOutputSerializer out = new DataOutputSerializer(16);
    serializer.serialize(histogram, out);
    DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
    assertThat(serializer.deserialize(in)).isEqualTo(histogram);
    assertThat(in.available()).isZero();
  }

  @Test
  void copyIsApart() {
    LatencyHistogram histogram = of(List.of(5L));
    LatencyHistogram copy = histogram.copy();
    copy.record(5);
    assertThat(histogram.total()).isEqualTo(1);
  }

  @Test
  void quantileIsTheNearestRank() {
    // ranks 1..4 of (1 ms, 1 ms, 1 ms, 1 s): p50 -> rank 2 -> 1 ms, p75 -> rank 3, p76 -> rank 4 ->
    // 1 s
    Map<Short, Integer> latency =
        of(List.of(1_000_000L, 1_000_000L, 1_000_000L, 1_000_000_000L)).toMap();
    assertThat(LatencyQuantile.ofMs(latency, 0.5)).isBetween(0.995, 1.005);
    assertThat(LatencyQuantile.ofMs(latency, 0.75)).isBetween(0.995, 1.005);
    assertThat(LatencyQuantile.ofMs(latency, 0.76)).isBetween(995.0, 1005.0);
    assertThat(LatencyQuantile.ofMs(Map.of(), 0.5)).isNull();
  }
}
