package dev.sluice.paths;

import static dev.sluice.paths.Spans.time;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SignatureTest {
  private static List<ServiceTime> services(String... names) {
    List<ServiceTime> services = new ArrayList<>();
    for (String name : names) {
      services.add(time(name, 1, 2));
    }
    return services;
  }

  /** {@code count} names of 97 bytes: with its arrow, each but the first takes 100. */
  private static String[] longNames(int count) {
    return IntStream.range(0, count)
        .mapToObj(n -> "s".repeat(95) + (10 + n))
        .toArray(String[]::new);
  }

  @Test
  void namesStandInTheirOrder() {
    assertThat(Signature.of(services("frontend", "search", "geo")))
        .isEqualTo("frontend > search > geo");
    assertThat(Signature.of(services("frontend"))).isEqualTo("frontend");
  }

  @Test
  void aThousandBytesStayWhole() {
    String[] names = longNames(10);
    names[0] += "xxx"; // 100 + 9 * 100
    String signature = Signature.of(services(names));
    assertThat(signature).hasSize(1_000).isEqualTo(String.join(" > ", names));
  }

  @Test
  void longerOnesAreCutBetweenNamesAndKeptApartByTheirHash() {
    String[] names = longNames(11);
    String eleven = Signature.of(services(names));
    names[10] = "t";
    String other = Signature.of(services(names));
    String start = String.join(" > ", longNames(10)) + " > … ";
    assertThat(eleven).startsWith(start).hasSize(start.length() + 16);
    // names[10] = "t" makes 997 + 4 bytes: one too many.
    assertThat(other).startsWith(start).isNotEqualTo(eleven);
  }

  @Test
  void boundCountsBytesNotCharacters() {
    String name = "ü".repeat(128); // as long as a name may be: 256 bytes
    String signature = Signature.of(services(name + "1", name + "2", name + "3", name + "4"));
    assertThat(signature).startsWith(name + "1 > " + name + "2 > " + name + "3 > … ");
    assertThat(signature.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(1_030);
  }

  @Test
  void hashIsThatOfFnv1a() {
    // The 64-bit FNV-1a of "a" is af63dc4c8601ec8c; here of one that does not fit.
    String[] names = {"a".repeat(1_001)};
    assertThat(Signature.of(services(names))).isEqualTo("… 7f962101a5f31964");
  }
}
