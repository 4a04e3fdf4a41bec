package dev.sluice.flink;

import static dev.sluice.flink.Rows.text;

import dev.sluice.accounting.Outcome;
import dev.sluice.accounting.OutcomeCounts;
import dev.sluice.traces.CallEdges;
import dev.sluice.traces.Fragment;
import dev.sluice.traces.Session;
import dev.sluice.traces.Trace;
import dev.sluice.traces.TraceSpan;
import java.util.ArrayList;
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
 * SQL {@code call_edges_of_traces(TABLE fragments PARTITION BY trace_id, DESCRIPTOR(record_time))}:
 * collects the fragments of each trace until it is quiet, and emits its calls.
 *
 * <p>Time is Kafka's record time: a trace is closed when the watermark has passed its newest
 * fragment by the quiet time, or its oldest by the maximum age. Reading the topic again closes the
 * same traces, unless a partition was idle and so not waited for. A fragment that comes after its
 * trace was closed starts it anew: nothing is lost, but a call whose two spans the closing parted
 * is not seen.
 */
@DataTypeHint(
    value =
        "ROW<edge ROW<caller STRING NOT NULL, callee STRING NOT NULL,"
            + " window_start BIGINT NOT NULL, calls BIGINT NOT NULL,"
            + " errors BIGINT NOT NULL, latency BYTES NOT NULL, contributions BIGINT NOT NULL>,"
            + " counted "
            + Rows.COUNTED
            + ">",
    bridgedTo = RowData.class)
public final class CallEdgesOfTraces extends ProcessTableFunction<RowData> {
  private static final long serialVersionUID = 1L;
  private static final String CLOSE = "close";
  private static final long NO_TIMER = -1;
  private static final long NS_PER_MS = 1_000_000;
  private static final long MS_PER_S = 1_000;

  /** What is known of the open sessions of a trace id without reading their fragments. */
  public static class Open {
    public long timerMs = NO_TIMER;
    public int spans;
  }

  private transient long quietMs;
  private transient long maxAgeMs;
  private transient int maxSpans;
  private transient long windowMs;

  @Override
  public void open(FunctionContext context) {
    Settings settings = Settings.of(context);
    quietMs = settings.traceQuietMs();
    maxAgeMs = settings.traceMaxAgeMs();
    maxSpans = settings.traceMaxSpans();
    windowMs = settings.edgeWindowMs();
  }

  /** Keeps a fragment; the first one sets the timer. */
  public void eval(
      Context context,
      @StateHint Open open,
      @StateHint ListView<byte[]> fragments,
      @ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE) Row input)
      throws Exception {
    byte[] fragment = input.getFieldAs("spans");
    if (open.spans >= maxSpans) {
      // Bounded state: what a trace has too much is not even kept until it is closed.
      recount(Fragment.decode(fragment), Outcome.TRACE_TOO_LARGE);
      return;
    }
    open.spans += input.<Integer>getFieldAs("span_count");
    fragments.add(fragment);
    if (open.timerMs == NO_TIMER) {
      TimeContext<Long> time = context.timeContext(Long.class);
      wake(time, open, time.time() + quietMs);
    }
  }

  /** Closes the sessions that are due; one timer a trace, not a fragment, waits for the others. */
  public void onTimer(OnTimerContext context, Open open, ListView<byte[]> fragments)
      throws Exception {
    TimeContext<Long> time = context.timeContext(Long.class);
    List<Session> waiting = new ArrayList<>();
    for (Session session : Session.split(fragments.get(), quietMs, maxAgeMs)) {
      if (session.dueMs() <= time.time()) {
        close(session);
      } else {
        waiting.add(session);
      }
    }
    if (waiting.isEmpty()) {
      context.clearAll();
      return;
    }
    fragments.clear();
    open.spans = 0;
    for (Session session : waiting) {
      fragments.addAll(session.fragments());
      for (byte[] fragment : session.fragments()) {
        open.spans += Fragment.decode(fragment).size();
      }
    }
    wake(time, open, waiting.get(0).dueMs());
  }

  private static void wake(TimeContext<Long> time, Open open, long atMs) {
    open.timerMs = atMs;
    time.registerOnTime(CLOSE, atMs);
  }

  private void close(Session session) {
    Trace trace = Trace.assemble(session.fragments(), maxSpans);
    CallEdges.of(trace, windowMs).forEach(this::emit);
    recount(trace.duplicates(), Outcome.DUPLICATE_SPAN);
    recount(trace.excess(), Outcome.TRACE_TOO_LARGE);
  }

  private void emit(CallEdges.Key edge, CallEdges.Calls calls) {
    collect(
        GenericRowData.of(
            GenericRowData.of(
                text(edge.caller()),
                text(edge.callee()),
                edge.windowMs() / MS_PER_S,
                calls.calls(),
                calls.errors(),
                calls.latency().encode(),
                calls.calls()),
            null));
  }

  /** Moves spans, which were counted as accepted when they were read, to another outcome. */
  private void recount(List<TraceSpan> spans, Outcome outcome) {
    Map<Long, OutcomeCounts> byReceived = new HashMap<>();
    for (TraceSpan span : spans) {
      byReceived
          .computeIfAbsent(span.receivedMs(), ms -> new OutcomeCounts())
          .reclassify(span.service(), outcome, span.receivedMs() - span.endNs() / NS_PER_MS);
    }
    byReceived.forEach(
        (receivedMs, counts) ->
            counts.forEach(
                (key, sums) ->
                    collect(GenericRowData.of(null, Rows.counted(key, sums, receivedMs)))));
  }
}
