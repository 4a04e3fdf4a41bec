package dev.sluice.flink;

import dev.sluice.accounting.AccountSums;
import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.MessageReader;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.bounds.LogBounds;
import dev.sluice.delays.DelayAccumulator;
import dev.sluice.delays.Delays;
import dev.sluice.delays.Instance;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.rules.LeftOutAccumulator;
import dev.sluice.rules.LeftOutCount;
import dev.sluice.rules.LeftOutKey;
import dev.sluice.rules.SpanRules;
import dev.sluice.samples.Sample;
import dev.sluice.samples.SampleAccumulator;
import dev.sluice.samples.Site;
import dev.sluice.sizes.DataSize;
import dev.sluice.sizes.SizeAccumulator;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceSpan;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowAccumulator;
import dev.sluice.windows.WindowSums;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Decodes each message once, for all jobs. It emits fragments of traces at once. It sums the
 * windows, samples, sizes, delays and accounts across messages.
 *
 * <p>The known names ({@link LogBounds}) are state.
 */
final class SpanReader extends SummingOperator<TraceFragment>
    implements OneInputStreamOperator<Message, TraceFragment> {
  private static final long serialVersionUID = 1L;

  /** All stages for spans, as one. If a stage cuts a span, it cuts it in the windows alone. */
  private record Stages(SpanRules rules, List<SpanStage> all) implements SpanStage {
    @Override
    public Outcome accept(Span span) {
      rules.apply(span);
      Outcome outcome = Outcome.ACCEPTED;
      for (SpanStage stage : all) {
        if (stage.accept(span) == Outcome.ACCEPTED_CUT) {
          outcome = Outcome.ACCEPTED_CUT;
        }
      }
      return outcome;
    }

    @Override
    public void clear() {
      all.forEach(SpanStage::clear);
    }
  }

  private transient Settings settings;
  private transient Texts texts;
  private transient LogBounds bounds;
  private transient OwnState boundsState;
  private transient MessageReader reader;
  private transient boolean assembles;
  private transient WindowAccumulator windows;
  private transient SampleAccumulator samples;
  private transient SizeAccumulator sizes;
  private transient LeftOutAccumulator left;
  private transient DelayAccumulator delays;
  private transient FragmentAccumulator fragments;
  private transient WindowSums<ResourcePoint, Partial> partialSums;
  private transient WindowSums<Site, Sample> sampleSums;
  private transient WindowSums<ResourcePoint, DataSize> sizeSums;
  private transient WindowSums<LeftOutKey, LeftOutCount> leftSums;
  private transient WindowSums<Instance, Delays> delaySums;
  private transient AccountSums counted;
  private transient AccountSums countedWindows;

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    settings = Settings.of(getRuntimeContext().getGlobalJobParameters());
    boolean withOperations = settings.assemblesTraces() || settings.wants(SpanView.LEFT);
    bounds = new LogBounds(settings.limits(), settings.spread(), withOperations);
    boundsState = new OwnState(context, getRuntimeContext().getTaskInfo(), "bounds");
    boundsState.restored().forEach(bounds::restore);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    boundsState.update(bounds.snapshot());
  }

  @Override
  public void open() throws Exception {
    super.open();
    texts = new Texts();
    partialSums = new WindowSums<>();
    sampleSums = new WindowSums<>();
    sizeSums = new WindowSums<>();
    leftSums = new WindowSums<>();
    delaySums = new WindowSums<>();
    counted = new AccountSums(Rows.COUNT_WINDOW_MS);
    countedWindows = new AccountSums(Rows.COUNT_WINDOW_MS);
    windows = new WindowAccumulator(settings.spread());
    samples = new SampleAccumulator(settings.sampleWindowMs());
    sizes = new SizeAccumulator(settings.sampleWindowMs());
    assembles = settings.assemblesTraces();
    left = new LeftOutAccumulator(settings.sampleWindowMs(), bounds::operationOf);
    delays = new DelayAccumulator(Rows.COUNT_WINDOW_MS);
    fragments =
        settings.wants(SpanView.PARTIAL)
            ? new FragmentAccumulator(settings.messageTraces(), settings.spread())
            : new FragmentAccumulator(settings.messageTraces());
    List<SpanStage> stages = new ArrayList<>();
    if (settings.wants(SpanView.PARTIAL)) {
      stages.add(windows);
    }
    if (settings.wants(SpanView.SAMPLE)) {
      stages.add(samples);
    }
    if (settings.wants(SpanView.SIZE)) {
      stages.add(sizes);
    }
    if (settings.wants(SpanView.LEFT)) {
      stages.add(left);
    }
    if (settings.wants(SpanView.DELAY)) {
      stages.add(delays);
    }
    if (assembles || settings.wants(SpanView.PARTIAL)) {
      stages.add(fragments);
    }
    SpanRules rules = settings.spanRules();
    reader =
        new MessageReader(
            new TraceRequestDecoder(rules.patterns()),
            settings.validity(),
            new Stages(rules, stages),
            bounds);
  }

  @Override
  public void processElement(StreamRecord<Message> element) {
    Message message = element.getValue();
    long recordMs = message.recordMs();
    bounds.at(message.partition(), recordMs);
    fragments.at(recordMs);
    delays.at(recordMs);
    reader.read(message.bytes(), recordMs, message.repeated());
    fragments.takeNested(this::takeBack);
    windows.forEach(partialSums::add);
    samples.forEach(sampleSums::add);
    sizes.forEach(sizeSums::add);
    left.drain(leftSums::add);
    delays.forEach(delaySums::add);
    if (assembles) {
      fragments.forEach(
          (traceId, spans) ->
              output.collect(
                  element.replace(
                      new TraceFragment(
                          traceId, recordMs, message.partition(), message.offset(), spans))));
    }
    reader.counts().forEach(countedWindows.at(recordMs)::add);
    reader.forEachWhole(counted.at(recordMs)::add);
    for (DeadLetter letter : reader.deadLetters()) {
      emit(SpanView.REJECTED, Rows.rejected(letter, message.partition(), message.offset()));
    }
    if (Math.max(partialSums.rows(), sampleSums.rows()) >= MOST_ROWS
        || Math.max(sizeSums.rows(), leftSums.rows()) >= MOST_ROWS
        || delaySums.rows() >= MOST_ROWS
        || Math.max(counted.rows(), countedWindows.rows()) >= MOST_ROWS) {
      flush();
    }
  }

  /** Takes a span within another span of its message. */
  private void takeBack(TraceSpan span) {
    windows.undo(span.point(), span.startNs(), span.endNs(), span.error());
    left.nested(span.point(), span.operation(), span.endNs(), span.durationNs());
  }

  @Override
  void flush() {
    partialSums.drain(
        (point, partial) -> emit(SpanView.PARTIAL, Rows.partial(texts, point, partial)));
    sampleSums.drain((site, sample) -> emit(SpanView.SAMPLE, Rows.sample(texts, site, sample)));
    sizeSums.drain((point, size) -> emit(SpanView.SIZE, Rows.size(texts, point, size)));
    leftSums.drain((span, count) -> emit(SpanView.LEFT, Rows.left(texts, span, count)));
    delaySums.drain(
        (instance, delays) -> emit(SpanView.DELAY, Rows.delay(texts, instance, delays)));
    counted.drain((ms, key, sums) -> emit(SpanView.COUNTED, Rows.counted(key, sums, ms)));
    countedWindows.drain(
        (ms, key, sums) -> emit(SpanView.COUNTED_WINDOW, Rows.counted(key, sums, ms)));
  }
}
