package dev.sluice.sinks;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Acknowledgements of records that a producer of Kafka sent. */
public final class KafkaAcknowledgements {
  private KafkaAcknowledgements() {}

  /** Waits for all. Throws the failure of the first record that the broker did not acknowledge. */
  public static void await(List<Future<?>> acknowledgements) throws Exception {
    for (Future<?> acknowledgement : acknowledgements) {
      try {
        acknowledgement.get();
      } catch (ExecutionException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }
}
