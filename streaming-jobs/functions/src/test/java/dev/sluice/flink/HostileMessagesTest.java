package dev.sluice.flink;

import static dev.sluice.otlp.Requests.MIDNIGHT_MS;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.accounting.Validity;
import dev.sluice.bounds.Limits;
import dev.sluice.bounds.MetricBounds;
import dev.sluice.otlp.Corpus;
import dev.sluice.otlp.Mutations;
import dev.sluice.resources.MetricMessageReader;
import java.lang.management.ManagementFactory;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Mutated messages through all stages that see spans and points: nothing is thrown, each message is
 * accounted for, takes memory in proportion to its length, and leaves the next one as it is.
 *
 * <p>{@code -Dsluice.hostile.seconds}: how long; {@code -Dsluice.hostile.seed}: repeats a run.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class HostileMessagesTest {
  private static final int MESSAGES = 1_000;
  private static final int LONGEST = 50_000;
  private static final long RECEIVED_MS = MIDNIGHT_MS + 2_000;
  private static final int LETTERS = 10;
  // Long spans have many rows, up to those that a message may have.
  private static final long ALLOCATED = 128 << 20;
  private static final long ALLOCATED_PER_BYTE = 1_000;
  private static final int KNOWN_BYTES = 1 << 20;
  private static final Limits LIMITS = new Limits(60_000, 99, 99, 99, 99, 99, 99, 100_000);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final long seed = Long.getLong("sluice.hostile.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Corpus corpus = new Corpus(random);
  private final Validity validity = new Validity(7 * 86_400_000L, 600_000, 60_000);

  /** Reads a message; the counts of it. */
  @FunctionalInterface
  private interface Reader {
    OutcomeCounts read(byte[] message);
  }

  /** Messages that could not be read, and spans or points. */
  private record Count(long messages, long spans) {
    static Count of(OutcomeCounts counts) {
      long[] sums = new long[2];
      counts.forEach(
          (key, sum) -> {
            sums[0] += sum.messages();
            sums[1] += sum.spans();
          });
      return new Count(sums[0], sums[1]);
    }
  }

  @Test
  void ofSpans() {
    AllStages stages = new AllStages(validity, LIMITS);
    attack(corpus::spans, message -> stages.read(message, RECEIVED_MS), stages::letters);
    assertThat(stages.known()).isLessThan(KNOWN_BYTES);
  }

  @Test
  void ofMetrics() {
    MetricMessageReader reader =
        new MetricMessageReader(
            validity, 10_000, new MetricBounds(LIMITS), (service, route) -> false);
    attack(
        corpus::metrics,
        message -> {
          reader.read(message, 0, RECEIVED_MS);
          return reader.counts();
        },
        reader::deadLetters);
  }

  private void attack(Supplier<byte[]> honest, Reader reader, Supplier<List<DeadLetter>> letters) {
    Mutations mutations = new Mutations(random);
    byte[] known = honest.get();
    Count before = Count.of(reader.read(known));
    assertThat(before.messages()).isZero();
    assertThat(before.spans()).isPositive();
    long seconds = Long.getLong("sluice.hostile.seconds", 0);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    int decoded = 0;
    byte[] parent = known;
    for (int n = 0; n < MESSAGES || System.nanoTime() - end < 0; n++) {
      byte[] message = mutations.of(n % 10 == 0 ? honest.get() : parent, known);
      Count count = read(reader, message, n);
      accounted(count, letters.get());
      // Most changes make a message malformed. One that is still none is changed further.
      boolean isDecoded = count.messages() == 0;
      decoded += isDecoded ? 1 : 0;
      parent = isDecoded && message.length < LONGEST ? message : known;
    }
    assertThat(decoded).as("seed %d", seed).isGreaterThan(MESSAGES / 20);
    assertThat(Count.of(reader.read(known))).as("seed %d", seed).isEqualTo(before);
  }

  private Count read(Reader reader, byte[] message, int number) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    Count count;
    try {
      count = Count.of(reader.read(message));
    } catch (Throwable e) {
      String hex = HexFormat.of().formatHex(message);
      throw new AssertionError("seed " + seed + ", message " + number + ": " + hex, e);
    }
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
        .as("allocated for %d bytes, seed %d, message %d", message.length, seed, number)
        .isLessThan(ALLOCATED + ALLOCATED_PER_BYTE * message.length);
    return count;
  }

  private void accounted(Count count, List<DeadLetter> letters) {
    assertThat(count.messages()).as("seed %d", seed).isBetween(0L, 1L);
    if (count.messages() == 1) {
      assertThat(count.spans()).as("seed %d", seed).isZero();
    }
    for (Outcome outcome : Outcome.values()) {
      assertThat(letters.stream().filter(letter -> letter.reason() == outcome).count())
          .as("seed %d, %s", seed, outcome)
          .isLessThanOrEqualTo(LETTERS);
    }
  }
}
