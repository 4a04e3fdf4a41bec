package dev.sluice.flink;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.accounting.Validity;
import dev.sluice.traces.Cause;
import dev.sluice.traces.Fragment;
import dev.sluice.traces.OpenTraces;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.table.data.RowData;

/**
 * Collects the fragments of each trace until it is quiet ({@link OpenTraces}), and gives out what
 * the jobs want to know of it, a table for each.
 *
 * <p>Reading the topic again closes the same traces, unless a partition was idle and so not waited
 * for. Nothing is closed before the clock of this machine, the idle time behind, has come so far;
 * when all partitions are idle, no watermark comes, and that clock alone closes what is open.
 *
 * <p>The traces are in the heap whatever the job's state backend. A checkpoint holds all of them;
 * each task reads all parts and keeps its own traces, so that the parallelism may change.
 */
final class TraceAssembly extends AbstractStreamOperator<Void>
    implements OneInputStreamOperator<TraceFragment, Void> {
  private static final long serialVersionUID = 1L;
  private static final long NS_PER_MS = 1_000_000;
  private static final long TICK_MS = 200;

  private final int parallelism;

  private transient Validity validity;
  private transient int maxSpans;
  private transient long idleMs;
  private transient Map<SpanTable, TraceRows> tables;
  private transient TraceCountRows counts;
  private transient OpenTraces traces;
  private transient ListState<byte[]> state;
  private transient boolean idle;
  private transient long sourceMs;

  /**
   * @param parallelism of which fragments are spread by {@link #taskOf}
   */
  TraceAssembly(int parallelism) {
    this.parallelism = parallelism;
  }

  /** Which of so many tasks assembles a trace. */
  static int taskOf(byte[] traceId, int tasks) {
    return Math.floorMod(Arrays.hashCode(traceId), tasks);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    Settings settings = Settings.of(getRuntimeContext().getGlobalJobParameters());
    int tasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    if (tasks != parallelism) {
      throw new IllegalStateException(
          "assemble traces with parallelism "
              + tasks
              + ": the job was submitted for "
              + parallelism
              + ". Submit it again to change it");
    }
    traces = new OpenTraces(settings.openTraces(), this::close);
    state =
        context
            .getOperatorStateStore()
            .getUnionListState(
                new ListStateDescriptor<>(
                    "open-traces", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    int mine = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    for (byte[] chunk : state.get()) {
      traces.restore(chunk, id -> taskOf(id, tasks) == mine);
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    Settings settings = Settings.of(getRuntimeContext().getGlobalJobParameters());
    validity = settings.validity();
    maxSpans = settings.traceMaxSpans();
    idleMs = settings.idleMs();
    PathsOfTrace paths = new PathsOfTrace();
    tables = new EnumMap<>(SpanTable.class);
    Map<SpanTable, TraceRows> all =
        Map.of(
            SpanTable.EDGE, new EdgeRows(settings),
            SpanTable.SEEN, new SeenRows(settings),
            SpanTable.TREE, new TreeRows(settings),
            SpanTable.MOVED, new MovedRows(settings),
            SpanTable.OWN, new OwnRows(settings),
            SpanTable.PATH, new PathRows(settings, paths),
            SpanTable.ON_PATH, new OnPathRows(settings, paths));
    all.forEach(
        (table, rows) -> {
          if (settings.wants(table)) {
            tables.put(table, rows);
          }
        });
    counts = settings.wants(SpanTable.TRACE_COUNT) ? new TraceCountRows(paths) : null;
    sourceMs = Long.MIN_VALUE;
    tickLater();
  }

  @Override
  public void processElement(StreamRecord<TraceFragment> element) {
    TraceFragment fragment = element.getValue();
    if (!traces.add(fragment.traceId(), fragment.spans(), fragment.size())) {
      // Bounded: what a trace has too much is not even kept until it is closed.
      recount(Fragment.decode(fragment.spans()), Outcome.TRACE_TOO_LARGE);
    }
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    sourceMs = mark.getTimestamp();
    if (mark.equals(Watermark.MAX_WATERMARK)) {
      traces.advance(sourceMs);
    } else {
      advance(getProcessingTimeService().getCurrentProcessingTime());
    }
    super.processWatermark(mark);
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    idle = status.isIdle();
    super.processWatermarkStatus(status);
  }

  /**
   * As far as the source has come, but never nearer to the machine's clock than the idle time: what
   * a partition that was taken for idle holds has so long to be read.
   */
  private void advance(long nowMs) {
    traces.advance(idle ? nowMs - idleMs : Math.min(sourceMs, nowMs - idleMs));
  }

  private void tickLater() {
    long nowMs = getProcessingTimeService().getCurrentProcessingTime();
    getProcessingTimeService()
        .registerTimer(
            nowMs + TICK_MS,
            ms -> {
              advance(ms);
              tickLater();
            });
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.update(traces.snapshot());
  }

  private void close(byte[] traceId, Session session, Cause cause, boolean late) {
    Trace trace = Trace.assemble(session.fragments(), maxSpans);
    tables.forEach((table, rows) -> rows.of(traceId, trace, row -> emit(table, row)));
    if (counts != null) {
      counts.of(session, cause, late, trace, row -> emit(SpanTable.TRACE_COUNT, row));
    }
    recount(trace.duplicates(), Outcome.DUPLICATE_SPAN);
    recount(trace.excess(), Outcome.TRACE_TOO_LARGE);
  }

  private void emit(SpanTable table, RowData row) {
    output.collect(table.tag(), new StreamRecord<>(row));
  }

  /** Moves spans, which were counted as accepted when they were read, to another outcome. */
  private void recount(List<TraceSpan> spans, Outcome outcome) {
    Map<Long, OutcomeCounts> byReceived = new HashMap<>();
    for (TraceSpan span : spans) {
      byReceived
          .computeIfAbsent(span.receivedMs(), ms -> new OutcomeCounts())
          .reclassify(
              span.service(),
              validity.accepted(span.endNs(), span.receivedMs()),
              outcome,
              span.receivedMs() - span.endNs() / NS_PER_MS);
    }
    byReceived.forEach(
        (receivedMs, each) ->
            each.forEach(
                (key, sums) -> emit(SpanTable.RECOUNTED, Rows.counted(key, sums, receivedMs))));
  }
}
