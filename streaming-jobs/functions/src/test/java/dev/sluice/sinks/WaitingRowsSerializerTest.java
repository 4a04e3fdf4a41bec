package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class WaitingRowsSerializerTest {
  private final WaitingRowsSerializer serializer = new WaitingRowsSerializer();

  @Property
  void theReaderReturnsTheRowsOfTheWriter(@ForAll("tables") List<List<Object>> table)
      throws IOException {
    List<Object[]> rows = table.stream().map(List::toArray).toList();
    WaitingRows waiting = new WaitingRows(List.of("a", "\u00fc", ""), rows);
    WaitingRows read = serializer.deserialize(1, serializer.serialize(waiting));
    assertThat(read.columns()).isEqualTo(waiting.columns());
    assertThat(read.rows()).usingRecursiveComparison().isEqualTo(rows);
  }

  @Provide
  Arbitrary<List<List<Object>>> tables() {
    Arbitrary<Object> value =
        Arbitraries.oneOf(
                Arbitraries.strings().map(text -> (Object) text),
                Arbitraries.longs().map(number -> (Object) number),
                Arbitraries.integers().map(number -> (Object) number),
                Arbitraries.doubles().map(number -> (Object) number),
                Arbitraries.of(true, false).map(flag -> (Object) flag))
            .injectNull(0.1);
    return value.list().ofSize(3).list().ofMaxSize(20);
  }

  @Test
  void version1AsItIsInCheckpoints() throws IOException {
    byte[] bytes = {
      0, 0, 0, 1, 0, 0, 0, 1, 'n', // one column: n
      0, 0, 0, 3, // three rows
      0, // null
      6, 0, 0, 0, 2, 'o', 'k', // "ok"
      4, 0, 0, 0, 0, 0, 0, 1, 0, // 256
    };
    WaitingRows read = serializer.deserialize(1, bytes);
    assertThat(read.columns()).containsExactly("n");
    assertThat(read.rows()).extracting(row -> row[0]).containsExactly(null, "ok", 256L);
    assertThat(serializer.serialize(read)).isEqualTo(bytes);
  }

  @Test
  void anotherVersionOrTypeIsAnError() {
    assertThatThrownBy(() -> serializer.deserialize(2, new byte[8]))
        .hasMessage("read waiting rows: version 2, known is 1");
    WaitingRows odd = new WaitingRows(List.of("a"), List.<Object[]>of(new Object[] {'c'}));
    assertThatThrownBy(() -> serializer.serialize(odd)).hasMessageContaining("Character");
  }
}
