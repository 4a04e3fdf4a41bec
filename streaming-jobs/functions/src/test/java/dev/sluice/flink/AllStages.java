package dev.sluice.flink;

import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.MessageReader;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.accounting.SpanStage;
import dev.sluice.accounting.Validity;
import dev.sluice.bounds.Limits;
import dev.sluice.bounds.LogBounds;
import dev.sluice.delays.DelayAccumulator;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.rules.LeftOutAccumulator;
import dev.sluice.rules.SpanRules;
import dev.sluice.samples.SampleAccumulator;
import dev.sluice.sampling.SamplingAccumulator;
import dev.sluice.sizes.SizeAccumulator;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.SpanBytes;
import dev.sluice.windows.Spread;
import dev.sluice.windows.WindowAccumulator;
import java.util.List;

/** All stages for spans, as {@link SpanReader} composes them, without Flink around them. */
final class AllStages implements SpanStage {
  private static final String RULES =
      "rule\tprobe\tleave_out\nvalues\tpath\turl.path\t/healthz*\n"
          + "rule\tacquire\twaiting\nname\t*connect*\n";
  private static final long WINDOW_MS = 10_000;

  private final SpanRules rules = SpanRules.parse(RULES);
  private final Spread spread = new Spread(100, 600_000);
  private final LogBounds bounds;
  private final WindowAccumulator windows = new WindowAccumulator(spread);
  private final SampleAccumulator samples = new SampleAccumulator(WINDOW_MS);
  private final SizeAccumulator sizes = new SizeAccumulator(WINDOW_MS);
  private final LeftOutAccumulator left;
  private final DelayAccumulator delays = new DelayAccumulator(WINDOW_MS);
  private final SamplingAccumulator sampling = new SamplingAccumulator(WINDOW_MS);
  private final FragmentAccumulator fragments = new FragmentAccumulator(100, spread);
  private final List<SpanStage> all;
  private final MessageReader reader;
  private final Texts texts = new Texts();
  // Flink's sinks and network take these; here the sum keeps them from being optimised away.
  private long taken;

  AllStages(Validity validity, Limits limits) {
    bounds = new LogBounds(limits, spread, true);
    left = new LeftOutAccumulator(WINDOW_MS, bounds::operationOf);
    all = List.of(windows, samples, sizes, left, delays, sampling, fragments);
    reader = new MessageReader(new TraceRequestDecoder(rules.patterns()), validity, this, bounds);
  }

  @Override
  public Outcome accept(Span span) {
    rules.apply(span);
    Outcome outcome = Outcome.ACCEPTED;
    for (SpanStage stage : all) {
      outcome = stage.accept(span) == Outcome.ACCEPTED_CUT ? Outcome.ACCEPTED_CUT : outcome;
    }
    return outcome;
  }

  @Override
  public void clear() {
    all.forEach(SpanStage::clear);
  }

  /** Reads a message, and makes every row of it. */
  OutcomeCounts read(byte[] message, long recordMs) {
    bounds.at(0, recordMs);
    fragments.at(recordMs);
    delays.at(recordMs);
    sampling.at(recordMs);
    reader.read(message, recordMs, false);
    fragments.takeNested(
        span -> {
          windows.undo(span.point(), span.startNs(), span.endNs(), span.error());
          left.nested(span.point(), span.operation(), span.endNs(), span.durationNs());
        });
    windows.forEach((point, partial) -> take(Rows.partial(texts, point, partial)));
    samples.forEach((key, value) -> take(Rows.sample(texts, key, value)));
    sizes.forEach((key, value) -> take(Rows.size(texts, key, value)));
    left.drain((key, value) -> take(Rows.left(texts, key, value)));
    delays.forEach((key, value) -> take(Rows.delay(texts, key, value)));
    sampling.forEach((key, value) -> take(Rows.sampling(texts, key, value)));
    fragments.forEach((id, spans) -> taken += SpanBytes.decode(SpanBytes.encode(spans)).size());
    return reader.counts();
  }

  private void take(Object row) {
    taken += row.hashCode() & 1;
  }

  List<DeadLetter> letters() {
    return reader.deadLetters();
  }

  /** Bytes of the names that it knows. */
  int known() {
    return bounds.snapshot().length;
  }
}
