package dev.sluice.paths;

import static dev.sluice.paths.Spans.time;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SignaturesTest {
  private static List<ServiceTime> way(List<String> names) {
    return names.stream().map(name -> time(name, 1, 2)).toList();
  }

  /** "Aa" and "BB" have the same hash: their ways share a slot. */
  @Test
  void waysOfOneHashKeepTheirNames() {
    Signatures signatures = new Signatures();
    List<ServiceTime> first = way(List.of("front", "Aa"));
    List<ServiceTime> second = way(List.of("front", "BB"));
    assertThat(signatures.of(first)).isEqualTo("front > Aa");
    assertThat(signatures.of(second)).isEqualTo("front > BB");
    assertThat(signatures.of(first)).isEqualTo("front > Aa");
  }

  @Test
  void aLongWayIsWrittenEachTime() {
    List<ServiceTime> way = way(IntStream.range(0, 101).mapToObj(n -> "s" + n).toList());
    Signatures signatures = new Signatures();
    assertThat(signatures.of(way)).isEqualTo(Signature.of(way)).isNotSameAs(signatures.of(way));
  }

  @Property
  void areThoseOfSignature(
      @ForAll @Size(max = 400) List<@Size(max = 4) List<@IntRange(max = 5) Integer>> ways) {
    Signatures signatures = new Signatures();
    for (List<Integer> numbers : ways) {
      List<ServiceTime> way = way(numbers.stream().map(number -> "s" + number).toList());
      assertThat(signatures.of(way)).isEqualTo(Signature.of(way));
    }
  }
}
