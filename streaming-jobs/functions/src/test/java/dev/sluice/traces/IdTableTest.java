package dev.sluice.traces;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class IdTableTest {
  @Test
  void theFirstNumberOfAnIdStays() {
    IdTable table = new IdTable(2);
    assertThat(table.putIfAbsent(7, 0)).isEqualTo(IdTable.NONE);
    assertThat(table.putIfAbsent(7, 1)).isZero();
    assertThat(table.find(7)).isZero();
    assertThat(table.find(8)).isEqualTo(IdTable.NONE);
  }

  @Test
  void anEmptyTableHasNoId() {
    assertThat(new IdTable(0).find(1)).isEqualTo(IdTable.NONE);
  }

  /** Ids that are few or near one another share slots. */
  @Property
  void findsWhatAMapFinds(
      @ForAll @Size(max = 200) long[] ids, @ForAll @LongRange(min = 1) long id) {
    IdTable table = new IdTable(ids.length);
    Map<Long, Integer> map = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] != 0) {
        Integer known = map.putIfAbsent(ids[i], i);
        assertThat(table.putIfAbsent(ids[i], i)).isEqualTo(known == null ? IdTable.NONE : known);
      }
    }
    map.forEach((known, number) -> assertThat(table.find(known)).isEqualTo(number));
    assertThat(table.find(id)).isEqualTo(map.getOrDefault(id, IdTable.NONE));
  }
}
