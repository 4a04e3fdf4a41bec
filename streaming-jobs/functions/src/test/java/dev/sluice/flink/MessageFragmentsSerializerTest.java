package dev.sluice.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.traces.MessageFragments;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceId;
import dev.sluice.traces.TraceSpan;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageFragmentsSerializerTest {
  private static TraceSpan span(long id) {
    return new TraceSpan(
        id, 0, 2, false, false, 5, 1, "cart", "", "", "GET", "h", "i-0", 9, (byte) 0);
  }

  @Test
  void keepsTaskAndFragmentsInTheirOrder() {
    MessageFragmentsSerializer serializer = new MessageFragmentsSerializer();
    MessageFragments message =
        new MessageFragments(
            3,
            List.of(
                new TraceFragment(new TraceId(1, 2), 9, 1, 77, List.of(span(1), span(2))),
                new TraceFragment(new TraceId(3, 4), 9, 1, 77, List.of(span(3)))));
    assertThat(serializer.ofBytes(serializer.toBytes(message))).isEqualTo(message);
  }
}
