package dev.sluice.flink;

import dev.sluice.accounting.AccountSums;
import dev.sluice.accounting.DeadLetter;
import dev.sluice.accounting.MessageReader;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.SpanStage;
import dev.sluice.bounds.LogBounds;
import dev.sluice.delays.DelayAccumulator;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.TraceRequestDecoder;
import dev.sluice.rules.LeftOutAccumulator;
import dev.sluice.rules.SpanRules;
import dev.sluice.samples.SampleAccumulator;
import dev.sluice.sampling.SamplingAccumulator;
import dev.sluice.sizes.SizeAccumulator;
import dev.sluice.traces.Callees;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.MessageFragments;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceSpan;
import dev.sluice.windows.Partial;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.WindowAccumulator;
import dev.sluice.windows.WindowSums;
import dev.sluice.windows.Windowed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/**
 * Decodes each message once, for all jobs. It emits a message's fragments of traces at once. It
 * sums the windows, samples, sizes, delays and accounts across messages.
 *
 * <p>The known names ({@link LogBounds}) are state.
 */
final class SpanReader extends SummingOperator<MessageFragments>
    implements OneInputStreamOperator<Message, MessageFragments> {
  private static final long serialVersionUID = 1L;

  /** All stages for spans, as one. If a stage cuts a span, it cuts it in the windows alone. */
  private record Stages(SpanRules rules, Callees callees, List<SpanStage> all)
      implements SpanStage {
    @Override
    public Outcome accept(Span span) {
      rules.apply(span);
      callees.apply(span);
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

  /**
   * One table of spans: the counts of the present message, and their sums since the last flush.
   *
   * @param visit visits the counts of the present message
   */
  private record Table<K, S extends Windowed<S>>(
      SpanView view,
      Consumer<BiConsumer<K, S>> visit,
      BiFunction<K, S, RowData> row,
      WindowSums<K, S> sums) {
    void takeMessage() {
      visit.accept(sums::add);
    }
  }

  private final int assemblers;

  private transient Settings settings;
  private transient LogBounds bounds;
  private transient OwnState boundsState;
  private transient MessageReader reader;
  private transient boolean assembles;
  private transient WindowAccumulator windows;
  private transient LeftOutAccumulator left;
  private transient DelayAccumulator delays;
  private transient SamplingAccumulator sampling;
  private transient FragmentAccumulator fragments;
  // Of the present message, by number of the task that assembles them; null for none.
  private transient List<List<TraceFragment>> ofTasks;
  private transient List<Table<?, ?>> tables;
  private transient AccountSums counted;
  private transient AccountSums countedWindows;

  /**
   * @param assemblers number of the tasks that assemble traces
   */
  SpanReader(int assemblers) {
    this.assemblers = assemblers;
  }

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
    counted = new AccountSums(Rows.COUNT_WINDOW_MS);
    countedWindows = new AccountSums(Rows.COUNT_WINDOW_MS);
    assembles = settings.assemblesTraces();
    ofTasks = new ArrayList<>(Collections.nCopies(assemblers, null));
    windows = new WindowAccumulator(settings.spread());
    SampleAccumulator samples = new SampleAccumulator(settings.sampleWindowMs());
    SizeAccumulator sizes = new SizeAccumulator(settings.sampleWindowMs());
    left = new LeftOutAccumulator(settings.sampleWindowMs(), bounds::operationOf);
    delays = new DelayAccumulator(Rows.COUNT_WINDOW_MS);
    sampling = new SamplingAccumulator(Rows.COUNT_WINDOW_MS);
    fragments =
        settings.wants(SpanView.PARTIAL)
            ? new FragmentAccumulator(settings.messageTraces(), settings.spread())
            : new FragmentAccumulator(settings.messageTraces());
    Texts texts = new Texts();
    tables = new ArrayList<>();
    List<SpanStage> stages = new ArrayList<>();
    add(
        SpanView.PARTIAL,
        windows,
        (BiConsumer<ResourcePoint, Partial> out) -> windows.forEach(out::accept),
        (point, partial) -> Rows.partial(texts, point, partial),
        stages);
    add(SpanView.SAMPLE, samples, samples::forEach, (k, v) -> Rows.sample(texts, k, v), stages);
    add(SpanView.SIZE, sizes, sizes::forEach, (k, v) -> Rows.size(texts, k, v), stages);
    add(SpanView.LEFT, left, left::drain, (k, v) -> Rows.left(texts, k, v), stages);
    add(SpanView.DELAY, delays, delays::forEach, (k, v) -> Rows.delay(texts, k, v), stages);
    add(
        SpanView.SAMPLING,
        sampling,
        sampling::forEach,
        (k, v) -> Rows.sampling(texts, k, v),
        stages);
    if (assembles || settings.wants(SpanView.PARTIAL)) {
      stages.add(fragments);
    }
    SpanRules rules = settings.spanRules();
    Callees callees = Callees.ofJob(getRuntimeContext().getJobInfo().getJobId().toString());
    reader =
        new MessageReader(
            new TraceRequestDecoder(rules.patterns()),
            settings.validity(),
            new Stages(rules, callees, stages),
            bounds);
  }

  /** Adds a table; its stage sees spans if a job reads the table. */
  private <K, S extends Windowed<S>> void add(
      SpanView view,
      SpanStage stage,
      Consumer<BiConsumer<K, S>> visit,
      BiFunction<K, S, RowData> row,
      List<SpanStage> stages) {
    tables.add(new Table<>(view, visit, row, new WindowSums<>()));
    if (settings.wants(view)) {
      stages.add(stage);
    }
  }

  private <K, S extends Windowed<S>> void drain(Table<K, S> table) {
    table.sums.drain((key, counts) -> emit(table.view, table.row.apply(key, counts)));
  }

  @Override
  public void processElement(StreamRecord<Message> element) {
    Message message = element.getValue();
    long recordMs = message.recordMs();
    bounds.at(message.partition(), recordMs);
    fragments.at(recordMs);
    delays.at(recordMs);
    sampling.at(recordMs);
    reader.read(message.bytes(), recordMs, message.repeated());
    fragments.takeNested(this::takeBack);
    tables.forEach(Table::takeMessage);
    if (assembles) {
      passOn(element, message);
    }
    reader.counts().forEach(countedWindows.at(recordMs)::add);
    reader.forEachWhole(counted.at(recordMs)::add);
    for (DeadLetter letter : reader.deadLetters()) {
      emit(SpanView.REJECTED, Rows.rejected(letter, message.partition(), message.offset()));
    }
    if (isFull()) {
      flush();
    }
  }

  private void passOn(StreamRecord<Message> element, Message message) {
    fragments.forEach(
        (traceId, spans) ->
            ofTask(TraceAssembly.taskOf(traceId, assemblers))
                .add(
                    new TraceFragment(
                        traceId,
                        message.recordMs(),
                        message.partition(),
                        message.offset(),
                        spans)));
    for (int task = 0; task < assemblers; task++) {
      List<TraceFragment> ofTask = ofTasks.set(task, null);
      if (ofTask != null) {
        output.collect(element.replace(new MessageFragments(task, ofTask)));
      }
    }
  }

  private List<TraceFragment> ofTask(int task) {
    if (ofTasks.get(task) == null) {
      ofTasks.set(task, new ArrayList<>());
    }
    return ofTasks.get(task);
  }

  private boolean isFull() {
    for (Table<?, ?> table : tables) {
      if (table.sums.rows() >= MOST_ROWS) {
        return true;
      }
    }
    return Math.max(counted.rows(), countedWindows.rows()) >= MOST_ROWS;
  }

  /** Takes a span within another span of its message. */
  private void takeBack(TraceSpan span) {
    windows.undo(span.point(), span.startNs(), span.endNs(), span.error());
    left.nested(span.attributesPoint(), span.operation(), span.endNs(), span.durationNs());
  }

  @Override
  void flush() {
    tables.forEach(this::drain);
    counted.drain((ms, key, sums) -> emit(SpanView.COUNTED, Rows.counted(key, sums, ms)));
    countedWindows.drain(
        (ms, key, sums) -> emit(SpanView.COUNTED_WINDOW, Rows.counted(key, sums, ms)));
  }
}
