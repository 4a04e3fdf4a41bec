package dev.sluice.sinks.rejects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.sinks.Rejects.Rejected;
import dev.sluice.sinks.SparseCounts;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RejectedRowsTest {
  private static final RejectedRows.Source SOURCE =
      new RejectedRows.Source(
          "clickhouse",
          "windows",
          List.of("service", "bucket", "sum", "latency"),
          new int[] {0, 1});

  private static final class Kept implements RejectedRows.Lines {
    final List<String> lines = new ArrayList<>();
    boolean away;

    @Override
    public void write(List<byte[]> more) throws IOException {
      if (away) {
        throw new IOException("away");
      }
      more.forEach(line -> lines.add(new String(line, StandardCharsets.UTF_8)));
    }

    @Override
    public void close() {}
  }

  private final Kept letters = new Kept();
  private final Kept counts = new Kept();
  private final RejectedRows rejects = new RejectedRows(SOURCE, () -> letters, () -> counts);

  private static Rejected rejected(String service) {
    Object[] row = {
      service,
      Instant.ofEpochMilli(1_500).atZone(ZoneOffset.UTC),
      BigInteger.TEN.pow(20),
      new SparseCounts(new short[] {-1, 7}, new int[] {2, 3})
    };
    return new Rejected(row, "refused", "Constraint \"c\"");
  }

  @Test
  void letterHasTheRowAndTheCountItsKey() throws Exception {
    rejects.setAside(List.of(rejected("cart")));
    assertThat(letters.lines)
        .containsExactly(
            "{\"reason\":\"refused\",\"detail\":\"Constraint \\\"c\\\"\","
                + "\"store\":\"clickhouse\",\"table\":\"windows\","
                + "\"key\":\"cart|1970-01-01T00:00:01.500Z\",\"row\":{\"service\":\"cart\","
                + "\"bucket\":\"1970-01-01T00:00:01.500Z\",\"sum\":100000000000000000000,"
                + "\"latency\":{\"-1\":2,\"7\":3}}}");
    assertThat(counts.lines)
        .containsExactly(
            "{\"store\":\"clickhouse\",\"table\":\"windows\",\"reason\":\"refused\","
                + "\"key\":\"cart|1970-01-01T00:00:01.500Z\",\"detail\":\"Constraint \\\"c\\\"\"}");
  }

  @Test
  void ofManyRowsTheFirstAreKeptAndAllAreCounted() throws Exception {
    rejects.setAside(Collections.nCopies(RejectedRows.LETTERS + 5, rejected("cart")));
    assertThat(letters.lines).hasSize(RejectedRows.LETTERS);
    assertThat(counts.lines).hasSize(RejectedRows.LETTERS + 5);
  }

  @Test
  void aRowThatIsTooLargeForTheTopicIsLeftOutOfItsLetter() throws Exception {
    rejects.setAside(List.of(rejected("x".repeat(RowJson.MAX_ROW_BYTES))));
    assertThat(letters.lines.get(0)).doesNotContain("\"row\"").hasSizeLessThan(2_000);
    assertThat(counts.lines.get(0)).hasSizeLessThan(2_000);
  }

  @Test
  void longKeysStayDifferent() throws Exception {
    rejects.setAside(List.of(rejected("x".repeat(2_000) + "a"), rejected("x".repeat(2_000) + "b")));
    assertThat(counts.lines).doesNotHaveDuplicates();
  }

  @Test
  void nothingIsSetAsideUntilItIsKeptAndCounted() {
    counts.away = true;
    assertThatThrownBy(() -> rejects.setAside(List.of(rejected("cart"))))
        .isInstanceOf(IOException.class);
  }
}
