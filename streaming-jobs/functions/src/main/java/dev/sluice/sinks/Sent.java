package dev.sluice.sinks;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Records that were given to a producer of Kafka. */
public final class Sent {
  private Sent() {}

  /** Waits until all are acknowledged. Throws the failure of the first one that was not. */
  public static void acknowledged(List<Future<?>> sent) throws Exception {
    for (Future<?> each : sent) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }
}
