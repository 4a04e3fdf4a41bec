package dev.sluice.flink;

import dev.sluice.accounting.AccountSums;
import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.Validity;
import dev.sluice.bounds.Variants;
import dev.sluice.traces.Callees;
import dev.sluice.traces.Cause;
import dev.sluice.traces.FragmentAccumulator;
import dev.sluice.traces.MessageFragments;
import dev.sluice.traces.OpenTraces;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceFragment;
import dev.sluice.traces.TraceId;
import dev.sluice.traces.TraceSpan;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Collects the fragments of each trace until it is quiet ({@link OpenTraces}), and sums the closed
 * traces, with a table for each job.
 *
 * <p>The watermark is the least record time of all partitions, so reading the topic again closes
 * the same traces: only the log decides. Clock records give each partition a record time.
 *
 * <p>Without clock records a partition may be idle and no longer hold back the watermark. Then no
 * trace is closed before this machine's clock, less the idle time, has reached its time. When all
 * partitions are idle, no watermark comes, and that clock alone closes the open traces.
 *
 * <p>The traces are in the heap with any state backend. A checkpoint holds all of them; each task
 * reads all parts and keeps its own traces, so that the parallelism may change.
 */
final class TraceAssembly extends SummingOperator<Void>
    implements OneInputStreamOperator<MessageFragments, Void> {
  private static final long serialVersionUID = 1L;
  private static final long NS_PER_MS = 1_000_000;

  private final int parallelism;

  private transient Validity validity;
  private transient boolean clocked;
  private transient long idleMs;
  private transient long partialFlushMs;
  private transient Map<SpanView, TraceSums> tables;
  private transient TraceCountSums counts;
  private transient AccountSums recounted;
  private transient OpenTraces traces;
  private transient ListState<byte[]> state;
  private transient Variants trees;
  private transient OwnState treesState;
  private transient Variants signatures;
  private transient OwnState signaturesState;
  private transient boolean idle;
  private transient long sourceMs;

  /**
   * @param parallelism by which {@link #taskOf} spreads fragments
   */
  TraceAssembly(int parallelism) {
    this.parallelism = parallelism;
  }

  /** The task, of this many, that assembles a trace. */
  static int taskOf(TraceId traceId, int tasks) {
    return tasks == 1 ? 0 : taskOf(traceId.toBytes(), tasks);
  }

  /** The same, of an id as bytes. */
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
    int slots =
        getContainingTask()
            .getEnvironment()
            .getTaskManagerInfo()
            .getConfiguration()
            .get(TaskManagerOptions.NUM_TASK_SLOTS);
    traces =
        new OpenTraces(settings.openTraces(Runtime.getRuntime().maxMemory(), slots), new Closed());
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
    state.clear();
    trees = new Variants(settings.rootVariants());
    treesState = new OwnState(context, getRuntimeContext().getTaskInfo(), "trees");
    treesState.restored().forEach(trees::restore);
    signatures = new Variants(settings.rootVariants());
    signaturesState = new OwnState(context, getRuntimeContext().getTaskInfo(), "signatures");
    signaturesState.restored().forEach(signatures::restore);
  }

  @Override
  public void open() throws Exception {
    super.open();
    Settings settings = Settings.of(getRuntimeContext().getGlobalJobParameters());
    validity = settings.validity();
    clocked = settings.clockRecordsMs() > 0;
    idleMs = settings.idleMs();
    partialFlushMs = settings.partialFlushMs();
    Callees callees = Callees.ofJob(getRuntimeContext().getJobInfo().getJobId().toString());
    PathsOfTrace paths = new PathsOfTrace();
    NestedSums nested = new NestedSums(settings);
    Consumer<TraceSpan> takeNested = settings.wants(SpanView.NESTED) ? nested::take : span -> {};
    tables = new EnumMap<>(SpanView.class);
    Map<SpanView, TraceSums> all =
        Map.of(
            SpanView.EDGE, new EdgeSums(settings),
            SpanView.CONTAINER_CALL, new ContainerCallSums(settings),
            SpanView.SEEN, new SightingSums(settings),
            SpanView.TREE, new TreeSums(settings, trees),
            SpanView.MOVED, new MovedSums(settings, callees, takeNested),
            SpanView.NESTED, nested,
            SpanView.OWN, new OwnSums(settings),
            SpanView.PATH, new PathSums(settings, paths, signatures),
            SpanView.ON_PATH, new OnPathSums(settings, paths));
    all.forEach(
        (table, rows) -> {
          if (settings.wants(table)) {
            tables.put(table, rows);
          }
        });
    counts = settings.wants(SpanView.TRACE_COUNT) ? new TraceCountSums(paths) : null;
    recounted = new AccountSums(Rows.COUNT_WINDOW_MS);
    sourceMs = Long.MIN_VALUE;
  }

  @Override
  public void processElement(StreamRecord<MessageFragments> element) {
    for (TraceFragment fragment : element.getValue().fragments()) {
      if (FragmentAccumulator.isRest(fragment.traceId())) {
        recount(fragment.spans(), Outcome.TOO_MANY_TRACES);
      } else {
        traces.add(fragment);
      }
    }
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    // A snapshot has its own copy by now: this one would stay until the next.
    state.clear();
    sourceMs = mark.getTimestamp();
    if (clocked || mark.equals(Watermark.MAX_WATERMARK)) {
      traces.advance(sourceMs);
    } else {
      advanceUnclocked(getProcessingTimeService().getCurrentProcessingTime());
    }
    super.processWatermark(mark);
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    idle = status.isIdle();
    super.processWatermarkStatus(status);
  }

  /**
   * Without clock records: advances as far as the source, but never nearer to the machine's clock
   * than the idle time. The records of a partition that counted as idle can be read within that
   * time.
   */
  private void advanceUnclocked(long nowMs) {
    traces.advance(idle ? nowMs - idleMs : Math.min(sourceMs, nowMs - idleMs));
  }

  @Override
  void beforeTimedFlush(long nowMs) {
    if (clocked) {
      traces.elapse(partialFlushMs);
    } else {
      advanceUnclocked(nowMs);
    }
  }

  @Override
  void flush() {
    tables.forEach((table, sums) -> sums.drain(row -> emit(table, row)));
    if (counts != null) {
      counts.drain(row -> emit(SpanView.TRACE_COUNT, row));
    }
    recounted.drain((ms, key, sums) -> emit(SpanView.RECOUNTED, Rows.counted(key, sums, ms)));
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.update(traces.snapshot());
    treesState.update(trees.snapshot());
    signaturesState.update(signatures.snapshot());
  }

  /** Sums closed traces. */
  private final class Closed implements OpenTraces.Closing {
    @Override
    public void close(byte[] traceId, Session session, Trace trace, Cause cause, boolean late) {
      tables.values().forEach(sums -> sums.add(traceId, trace));
      if (counts != null) {
        counts.add(session, cause, late, trace);
      }
      leaveOut(trace.duplicates(), trace.excess());
    }

    @Override
    public void preview(Trace trace, int times) {
      tables.values().forEach(sums -> sums.preview(trace, times));
      // Not between what is taken back and what is counted anew: fewer calls would show for a
      // while.
      if (times > 0 && isFull()) {
        flush();
      }
    }

    @Override
    public void leaveOut(List<TraceSpan> duplicates, List<TraceSpan> excess) {
      recount(duplicates, Outcome.DUPLICATE_SPAN);
      recount(excess, Outcome.TRACE_TOO_LARGE);
      if (isFull()) {
        flush();
      }
    }
  }

  private boolean isFull() {
    for (TraceSums sums : tables.values()) {
      if (sums.rows() >= MOST_ROWS) {
        return true;
      }
    }
    return recounted.rows() >= MOST_ROWS || counts != null && counts.rows() >= MOST_ROWS;
  }

  /** Moves spans, which were counted as accepted when they were read, to another outcome. */
  private void recount(List<TraceSpan> spans, Outcome outcome) {
    for (TraceSpan span : spans) {
      recounted
          .at(span.receivedMs())
          .reclassify(
              span.service(),
              span.isInRest()
                  ? Outcome.ACCEPTED_MORE
                  : validity.accepted(span.endNs(), span.receivedMs()),
              outcome,
              span.receivedMs() - span.endNs() / NS_PER_MS);
    }
  }
}
