package dev.sluice.sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OneInFlightTest {
  private final Semaphore mayLand = new Semaphore(0);
  private final List<String> written = Collections.synchronizedList(new ArrayList<>());
  private final AtomicInteger landed = new AtomicInteger();

  private void write(String batch) throws InterruptedException {
    if (batch.equals("at fault")) {
      throw new TableAtFaultException("no such column", null);
    }
    mayLand.acquire();
    written.add(batch);
  }

  @Test
  void theNextIsFilledMeanwhileAndStartsWhenTheOneBeforeHasLanded() throws Exception {
    try (OneInFlight<String> flight =
        new OneInFlight<>("test", this::write, landed::incrementAndGet)) {
      assertThat(flight.isFree()).isTrue();
      flight.start("first");
      assertThat(flight.isFree()).isFalse();
      assertThat(written).isEmpty();
      mayLand.release(1);
      flight.start("second");
      assertThat(written).containsExactly("first");
      mayLand.release(1);
      flight.await();
      assertThat(written).containsExactly("first", "second");
      assertThat(flight.isFree()).isTrue();
    }
  }

  @Test
  void aBatchThatFailsFailsWhoeverComesNext() throws Exception {
    try (OneInFlight<String> flight =
        new OneInFlight<>("test", this::write, landed::incrementAndGet)) {
      flight.start("at fault");
      assertThatThrownBy(flight::await).isInstanceOf(TableAtFaultException.class);
      assertThatThrownBy(() -> flight.start("next")).isInstanceOf(TableAtFaultException.class);
      assertThatThrownBy(flight::isFree).isInstanceOf(TableAtFaultException.class);
    }
    assertThat(landed).hasValue(1);
  }

  @Test
  void closingDoesNotWaitForWhatIsInFlight() throws Exception {
    OneInFlight<String> flight = new OneInFlight<>("test", this::write, landed::incrementAndGet);
    flight.start("never lands");
    flight.close();
    assertThat(written).isEmpty();
    assertThatThrownBy(flight::await).hasMessageContaining("ended");
  }
}
