package dev.sluice.flink;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.util.OutputTag;

/** The tables that one reading of the spans gives, each a stream of flat rows. */
enum SpanView {
  /** The position of each message. */
  POSITION(
      "`partition` INT NOT NULL, `offset` BIGINT NOT NULL,"
          + " record_time TIMESTAMP_LTZ(3) NOT NULL"),
  /** Contributions of messages to the fine windows. */
  PARTIAL(Columns.PARTIAL),
  /** Contributions of messages to the latencies of containers. */
  SAMPLE(Columns.SAMPLE),
  /** Contributions of messages to the sizes of data. */
  SIZE(Columns.SIZE),
  /** Spans that the fine windows do not count, as far as messages show them. */
  LEFT(Columns.LEFT),
  /** How late spans came. */
  DELAY(Columns.DELAY),
  /** What spans say, and their trace ids show, of samplers. */
  SAMPLING(Columns.SAMPLING),
  /** Outcomes of spans. */
  COUNTED(Columns.COUNTED),
  /** The same for the fine windows, which cut some. */
  COUNTED_WINDOW(Columns.COUNTED),
  /** Dead letters, with the position of the message. */
  REJECTED(
      "reason STRING NOT NULL, detail STRING, service STRING, trace_id STRING, span_id STRING,"
          + " payload BYTES, `partition` INT NOT NULL, `offset` BIGINT NOT NULL"),
  // Tables of closed traces.
  EDGE(Columns.EDGE),
  CONTAINER_CALL(Columns.CONTAINER_CALL),
  SEEN(SightingSums.TYPE),
  TREE(Columns.TREE),
  MOVED(Columns.PARTIAL),
  /** Spans that the fine windows do not count, as traces show them. */
  NESTED(Columns.LEFT),
  PATH(PathSums.TYPE),
  ON_PATH(OnPathSums.TYPE),
  TRACE_COUNT(Columns.TRACE_COUNT),
  OWN(Columns.OWN),
  /** Spans that move to another outcome, because of their trace. */
  RECOUNTED(Columns.COUNTED);

  /** The tables that {@link SpanReader} emits. */
  static final Set<SpanView> OF_MESSAGES =
      EnumSet.of(PARTIAL, SAMPLE, SIZE, LEFT, DELAY, SAMPLING, COUNTED, COUNTED_WINDOW, REJECTED);

  /** The tables that need assembled traces. */
  static final Set<SpanView> OF_TRACES =
      EnumSet.of(EDGE, CONTAINER_CALL, SEEN, TREE, MOVED, NESTED, PATH, ON_PATH, TRACE_COUNT, OWN);

  private final String columns;
  private final OutputTag<RowData> tag;

  SpanView(String columns) {
    this.columns = columns;
    tag = new OutputTag<>(label(), type());
  }

  /**
   * Its name in the job parameter {@code sluice.span-tables}; the table is {@code span_} plus the
   * name.
   */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  OutputTag<RowData> tag() {
    return tag;
  }

  final InternalTypeInfo<RowData> type() {
    RowType row =
        (RowType)
            LogicalTypeParser.parse(
                "ROW<" + columns + ">", Thread.currentThread().getContextClassLoader());
    return InternalTypeInfo.of(row);
  }
}
