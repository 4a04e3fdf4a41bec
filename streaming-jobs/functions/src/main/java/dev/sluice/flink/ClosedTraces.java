package dev.sluice.flink;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.accounting.Validity;
import dev.sluice.traces.Fragment;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.annotation.StateHint;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.types.Row;

/**
 * SQL {@code closed_traces(TABLE fragments PARTITION BY trace_id, DESCRIPTOR(record_time))}:
 * collects the fragments of each trace until it is quiet, and emits what the jobs want to know of
 * it. Of the columns exactly one is not NULL in each row, so that one assembly feeds several
 * tables; the job parameter {@code sluice.trace-rows} names the columns that anybody reads.
 *
 * <p>Time is Kafka's record time: a trace is closed when the watermark has passed its newest
 * fragment by the quiet time, or its oldest by the maximum age. Reading the topic again closes the
 * same traces, unless a partition was idle and so not waited for. A fragment that comes after its
 * trace was closed starts it anew: nothing is lost, but a call whose two spans the closing parted
 * is not seen. So that such parts are counted, a closed trace leaves behind when it was closed, for
 * the late time.
 *
 * <p>State is bounded: spans of a trace by number and by age, and what a closed trace leaves by the
 * late time. One timer a trace id waits for whichever is next; state has no time to live but that.
 */
@DataTypeHint(
    value =
        "ROW<edge "
            + EdgeRows.TYPE
            + ", seen "
            + SeenRows.TYPE
            + ", tree "
            + TreeRows.TYPE
            + ", moved "
            + Rows.PARTIAL
            + ", path "
            + PathRows.TYPE
            + ", on_path "
            + OnPathRows.TYPE
            + ", trace_count "
            + TraceCountRows.TYPE
            + ", own "
            + OwnRows.TYPE
            + ", counted "
            + Rows.COUNTED
            + ">",
    bridgedTo = RowData.class)
public final class ClosedTraces extends ProcessTableFunction<RowData> {
  private static final long serialVersionUID = 1L;
  private static final String WAKE = "wake";
  private static final long NEVER = Long.MIN_VALUE;
  private static final byte[] NO_ID = {};
  private static final long NS_PER_MS = 1_000_000;

  /** The columns, in their order. */
  private enum Column {
    EDGE,
    SEEN,
    TREE,
    MOVED,
    PATH,
    ON_PATH,
    TRACE_COUNT,
    OWN,
    COUNTED
  }

  /**
   * What is known of a trace id without reading its fragments: of its open sessions, and when the
   * last closed one was due, as long as another would be late.
   */
  public static class Open {
    public int spans;
    public byte[] traceId = NO_ID;
    public long closedMs = NEVER;
  }

  private transient long quietMs;
  private transient long maxAgeMs;
  private transient int maxSpans;
  private transient Validity validity;
  private transient long lateMs;
  private transient Map<Column, TraceRows> columns;
  private transient TraceCountRows counts;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    quietMs = settings.traceQuietMs();
    maxAgeMs = settings.traceMaxAgeMs();
    maxSpans = settings.traceMaxSpans();
    validity = settings.validity();
    columns = new EnumMap<>(Column.class);
    if (settings.wantsTraceRows("edge")) {
      columns.put(Column.EDGE, new EdgeRows(settings));
    }
    if (settings.wantsTraceRows("seen")) {
      columns.put(Column.SEEN, new SeenRows(settings));
    }
    if (settings.wantsTraceRows("tree")) {
      columns.put(Column.TREE, new TreeRows(settings));
    }
    if (settings.wantsTraceRows("moved")) {
      columns.put(Column.MOVED, new MovedRows(settings));
    }
    if (settings.wantsTraceRows("own")) {
      columns.put(Column.OWN, new OwnRows(settings));
    }
    PathsOfTrace paths = new PathsOfTrace();
    if (settings.wantsTraceRows("path")) {
      columns.put(Column.PATH, new PathRows(settings, paths));
    }
    if (settings.wantsTraceRows("on_path")) {
      columns.put(Column.ON_PATH, new OnPathRows(settings, paths));
    }
    counts = settings.wantsTraceRows("trace_count") ? new TraceCountRows(paths) : null;
    lateMs = counts == null ? 0 : settings.traceLateMs();
  }

  /** Keeps a fragment; the first one sets the timer. */
  public void eval(
      Context context,
      @StateHint(ttl = "0") Open open,
      @StateHint(ttl = "0") ListView<byte[]> fragments,
      @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input)
      throws Exception {
    byte[] fragment = input.getFieldAs("spans");
    if (open.spans >= maxSpans) {
      // Bounded state: what a trace has too much is not even kept until it is closed.
      recount(Fragment.decode(fragment), Outcome.TRACE_TOO_LARGE);
      return;
    }
    if (open.spans == 0) {
      open.traceId = input.getFieldAs("trace_id");
      TimeContext<Long> time = context.timeContext(Long.class);
      time.registerOnTime(WAKE, now(time) + quietMs);
    }
    open.spans += input.<Integer>getFieldAs("span_count");
    fragments.add(fragment);
  }

  /**
   * The row's time; behind the watermark, the watermark. That is so when a topic is caught up with
   * whose partitions were taken for idle, after a restart: the rest of the trace is still to be
   * read, and sessions are told apart by record time, however late.
   */
  private static long now(TimeContext<Long> time) {
    Long watermark = time.currentWatermark();
    return watermark == null ? time.time() : Math.max(time.time(), watermark);
  }

  /** Closes the sessions that are due, and sets the timer for what is left. */
  public void onTimer(OnTimerContext context, Open open, ListView<byte[]> fragments)
      throws Exception {
    TimeContext<Long> time = context.timeContext(Long.class);
    List<Session> waiting = new ArrayList<>();
    boolean closedAny = false;
    for (Session session : Session.split(fragments.get(), quietMs, maxAgeMs)) {
      if (session.dueMs() <= time.time()) {
        boolean late = open.closedMs != NEVER && session.firstMs() < open.closedMs + lateMs;
        close(open.traceId, session, late);
        open.closedMs = Math.max(open.closedMs, session.dueMs());
        closedAny = true;
      } else {
        waiting.add(session);
      }
    }
    fragments.clear();
    open.spans = 0;
    if (!waiting.isEmpty()) {
      for (Session session : waiting) {
        fragments.addAll(session.fragments());
        for (byte[] fragment : session.fragments()) {
          open.spans += Fragment.decode(fragment).size();
        }
      }
      time.registerOnTime(WAKE, waiting.get(0).dueMs());
    } else if (closedAny && lateMs > 0) {
      open.traceId = NO_ID;
      time.registerOnTime(WAKE, time.time() + lateMs);
    } else {
      // Not clearAll: it would look for unnamed timers of this trace among those of all traces.
      time.clearTimer(WAKE);
      context.clearAllState();
    }
  }

  private void close(byte[] traceId, Session session, boolean late) {
    Trace trace = Trace.assemble(session.fragments(), maxSpans);
    columns.forEach((column, rows) -> rows.of(traceId, trace, row -> emit(column, row)));
    if (counts != null) {
      counts.of(session, late, trace, row -> emit(Column.TRACE_COUNT, row));
    }
    recount(trace.duplicates(), Outcome.DUPLICATE_SPAN);
    recount(trace.excess(), Outcome.TRACE_TOO_LARGE);
  }

  private void emit(Column column, RowData value) {
    GenericRowData row = new GenericRowData(Column.values().length);
    row.setField(column.ordinal(), value);
    collect(row);
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
        (receivedMs, counts) ->
            counts.forEach(
                (key, sums) -> emit(Column.COUNTED, Rows.counted(key, sums, receivedMs))));
  }
}
