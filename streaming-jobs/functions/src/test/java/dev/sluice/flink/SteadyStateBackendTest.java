package dev.sluice.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.DynamicCodeLoadingException;
import org.junit.jupiter.api.Test;

class SteadyStateBackendTest {
  /** Keeps the parameters that it gets, creates nothing, and has every capability. */
  private static final class Recording implements StateBackend {
    private static final long serialVersionUID = 1L;
    private final transient List<KeyedStateBackendParameters<?>> parameters = new ArrayList<>();

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
        KeyedStateBackendParameters<K> parameters) {
      this.parameters.add(parameters);
      return null;
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
        OperatorStateBackendParameters parameters) {
      return null;
    }

    @Override
    public boolean useManagedMemory() {
      return true;
    }

    @Override
    public boolean supportsNoClaimRestoreMode() {
      return true;
    }

    @Override
    public boolean supportsAsyncKeyedStateBackend() {
      return true;
    }

    @Override
    public boolean supportsSavepointFormat(SavepointFormatType format) {
      return true;
    }
  }

  private static KeyedStateBackendParametersImpl<Long> parameters(TtlTimeProvider clock) {
    return new KeyedStateBackendParametersImpl<>(
        null,
        new JobID(),
        "sums",
        LongSerializer.INSTANCE,
        128,
        new KeyGroupRange(0, 63),
        null,
        clock,
        null,
        (name, value) -> {},
        List.of(),
        new CloseableRegistry(),
        0.25);
  }

  private static StateBackend ofConfiguration(String backend) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(
        StateBackendOptions.STATE_BACKEND, "dev.sluice.flink.SteadyStateBackend$Factory");
    configuration.setString("sluice.state-backend", backend);
    return StateBackendLoader.loadStateBackendFromConfig(
        configuration, SteadyStateBackendTest.class.getClassLoader(), null);
  }

  @Test
  void ageGoesByElapsedTimeAndNotByTheClockThatFlinkPasses() throws Exception {
    Recording flink = new Recording();
    KeyedStateBackendParametersImpl<Long> given =
        parameters(() -> System.currentTimeMillis() + 3_600_000);

    new SteadyStateBackend(flink).createKeyedStateBackend(given);

    StateBackend.KeyedStateBackendParameters<?> passed = flink.parameters.get(0);
    TtlTimeProvider clock = passed.getTtlTimeProvider();
    long elapsedNanos = System.nanoTime();
    long timestamp = clock.currentTimestamp();
    TimeUnit.MILLISECONDS.sleep(20);
    long sinceMs = clock.currentTimestamp() - timestamp;
    assertThat(sinceMs)
        .isBetween(20L, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - elapsedNanos) + 1);
    assertThat(passed.getOperatorIdentifier()).isEqualTo("sums");
    assertThat(passed.getKeyGroupRange()).isEqualTo(new KeyGroupRange(0, 63));
    assertThat(passed.getManagedMemoryFraction()).isEqualTo(0.25);
    assertThat(passed.getCancelStreamRegistry()).isSameAs(given.getCancelStreamRegistry());
  }

  @Test
  void timestampsAreUnixTimesSinceStateOutlivesTheProcess() {
    // Minutes: a machine's clock may be corrected while the JVM of the tests runs.
    assertThat(new SteadyStateBackend.Clock().currentTimestamp())
        .isCloseTo(System.currentTimeMillis(), within(TimeUnit.MINUTES.toMillis(10)));
  }

  @Test
  void flinkLoadsTheBackendThatTheOptionNames() throws Exception {
    StateBackend hashmap = ofConfiguration("hashmap");
    assertThat(hashmap).isInstanceOf(SteadyStateBackend.class);
    assertThat(hashmap.getName()).isEqualTo("HashMapStateBackend");
    assertThat(hashmap.useManagedMemory()).isFalse();
    assertThat(hashmap.supportsSavepointFormat(SavepointFormatType.NATIVE)).isTrue();
  }

  @Test
  void capabilitiesAreThoseOfFlinksBackend() {
    StateBackend backend = new SteadyStateBackend(new Recording());
    assertThat(backend.getName()).isEqualTo("Recording");
    assertThat(backend.useManagedMemory()).isTrue();
    assertThat(backend.supportsNoClaimRestoreMode()).isTrue();
    assertThat(backend.supportsAsyncKeyedStateBackend()).isTrue();
    assertThat(backend.supportsSavepointFormat(SavepointFormatType.NATIVE)).isTrue();
  }

  @Test
  void aBackendThatFlinkDoesNotKnowIsNamed() {
    assertThatThrownBy(() -> ofConfiguration("rocks"))
        .hasRootCauseInstanceOf(ClassNotFoundException.class)
        .hasRootCauseMessage("rocks")
        .hasCauseInstanceOf(DynamicCodeLoadingException.class);
  }
}
