package dev.sluice.flink;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.DynamicCodeLoadingException;

/**
 * A state backend of Flink that counts the age of state by elapsed time. Flink's own count it by
 * the time of day: where that is set ahead by {@code table.exec.state.ttl}, every sum is expired.
 */
final class SteadyStateBackend implements StateBackend {
  private static final long serialVersionUID = 1L;

  /** The option that names Flink's backend, as {@code state.backend.type} does. */
  static final String BACKEND = "sluice.state-backend";

  private final StateBackend backend;

  SteadyStateBackend(StateBackend backend) {
    this.backend = backend;
  }

  /** What {@code state.backend.type} names; jobs/run.py sets it. */
  public static final class Factory implements StateBackendFactory<StateBackend> {
    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader loader)
        throws IOException {
      Configuration ofFlink = Configuration.fromMap(config.toMap());
      ofFlink.set(StateBackendOptions.STATE_BACKEND, ofFlink.getString(BACKEND, "hashmap"));
      try {
        return new SteadyStateBackend(
            StateBackendLoader.loadStateBackendFromConfig(ofFlink, loader, null));
      } catch (DynamicCodeLoadingException noSuchBackend) {
        throw new IOException(noSuchBackend);
      }
    }
  }

  /**
   * Unix time in ms as of the JVM's start, and what elapsed since. A restored state holds such
   * times of the JVM that wrote it, so elapsed time alone would not do.
   */
  static final class Clock implements TtlTimeProvider {
    private static final long ELAPSED_ZERO_MS;

    static {
      RuntimeMXBean jvm = ManagementFactory.getRuntimeMXBean();
      ELAPSED_ZERO_MS = jvm.getStartTime() + jvm.getUptime() - elapsedMs();
    }

    private static long elapsedMs() {
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    @Override
    public long currentTimestamp() {
      return ELAPSED_ZERO_MS + elapsedMs();
    }
  }

  private static <K> KeyedStateBackendParameters<K> steady(
      KeyedStateBackendParameters<K> parameters) {
    return new KeyedStateBackendParametersImpl<>(parameters).setTtlTimeProvider(new Clock());
  }

  @Override
  public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters) throws Exception {
    return backend.createKeyedStateBackend(steady(parameters));
  }

  @Override
  public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters) throws Exception {
    return backend.createAsyncKeyedStateBackend(steady(parameters));
  }

  @Override
  public OperatorStateBackend createOperatorStateBackend(OperatorStateBackendParameters parameters)
      throws Exception {
    return backend.createOperatorStateBackend(parameters);
  }

  @Override
  public String getName() {
    return backend.getName();
  }

  @Override
  public boolean supportsAsyncKeyedStateBackend() {
    return backend.supportsAsyncKeyedStateBackend();
  }

  @Override
  public boolean useManagedMemory() {
    return backend.useManagedMemory();
  }

  @Override
  public boolean supportsNoClaimRestoreMode() {
    return backend.supportsNoClaimRestoreMode();
  }

  @Override
  public boolean supportsSavepointFormat(SavepointFormatType format) {
    return backend.supportsSavepointFormat(format);
  }
}
