package dev.sluice.flink;

import dev.sluice.clock.Clock;
import dev.sluice.clock.KafkaClock;
import dev.sluice.traces.MessageFragments;
import java.util.Map;
import org.apache.flink.api.common.functions.Partitioner;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;

/**
 * One reading of the spans, for all jobs of a Flink job: the job's description calls it before it
 * plans its SQL. Defines a view {@code span_NAME} for each {@link SpanView}.
 *
 * <pre>
 * otlp_spans -> ReadMessages -> RepeatedMessages -> SpanReader: each message is decoded once
 *   |             position                            partial, sample, size, left, delay, sampling, counted, counted_window, rejected
 *   |                                                 fragments of traces -> TraceAssembly
 *   |                                                   edge, seen, tree, moved, nested, path, on_path, trace_count, own, recounted
 * </pre>
 *
 * <p>With parallelism 1 all of it is one chain in the task that reads the topic: nothing is
 * serialized on the way. With more, messages are spread by their hash, so that a repeat meets the
 * first, and fragments by their trace's id; no more tasks read than there are partitions.
 */
public final class SpanStreams {
  /** The source is planned apart from the jobs: their operators' uids must differ. */
  private static final String SOURCE_UIDS = "otlp-spans-<id>-<transformation>";

  private SpanStreams() {}

  /**
   * Defines the views; {@code otlp_spans} must be there, and the job's parameters be set. Asks
   * Kafka for the topic's partitions, if more than one task is to read it.
   *
   * @param topic its name in Kafka
   * @param client properties of Kafka's clients
   */
  public static void define(
      StreamTableEnvironment tables, String topic, Map<String, String> client) {
    long clockRecordsMs = settings(tables).clockRecordsMs();
    define(tables, clockRecordsMs > 0 ? new KafkaClock(topic, client, clockRecordsMs) : null);
  }

  private static Settings settings(StreamTableEnvironment tables) {
    return Settings.of(tables.getConfig().get(PipelineOptions.GLOBAL_JOB_PARAMETERS));
  }

  /**
   * @param clock of the topic; null: none
   */
  static void define(StreamTableEnvironment tables, Clock clock) {
    Settings settings = settings(tables);
    DataStream<RowData> topic = topic(tables);
    int parallelism = topic.getExecutionEnvironment().getParallelism();

    SingleOutputStreamOperator<Message> read =
        topic
            .process(new ReadMessages(settings.repeatWindowMs() > 0, clock))
            .returns(new EncodedType<>(Message.class, new MessageSerializer()))
            .name("messages");
    if (clock != null && parallelism > 1) {
      limit(read.getTransformation(), Math.min(parallelism, clock.partitions()));
    }
    view(tables, read, SpanView.POSITION);
    DataStream<Message> messages =
        settings.repeatWindowMs() > 0
            ? keyed(read, parallelism)
                .process(new RepeatedMessages(settings.repeatWindowMs()))
                .returns(new EncodedType<>(Message.class, new MessageSerializer()))
                .name("repeated messages")
                .uid("repeated-messages")
            : read;
    SingleOutputStreamOperator<MessageFragments> spans =
        messages
            .transform(
                "spans",
                new EncodedType<>(MessageFragments.class, new MessageFragmentsSerializer()),
                new SpanReader(parallelism))
            .uid("spans");
    SpanView.OF_MESSAGES.forEach(table -> view(tables, spans, table));
    if (settings.assemblesTraces()) {
      SingleOutputStreamOperator<Void> traces =
          spread(spans, parallelism)
              .transform("traces", Types.VOID, new TraceAssembly(parallelism))
              .uid("traces");
      SpanView.OF_TRACES.forEach(table -> view(tables, traces, table));
      view(tables, traces, SpanView.RECOUNTED);
    }
  }

  /**
   * The rows of the topic, with the watermarks of its source. Without mini-batches, which would
   * replace these watermarks by marks of the machine's clock.
   */
  private static DataStream<RowData> topic(StreamTableEnvironment tables) {
    TableConfig config = tables.getConfig();
    boolean batched = config.get(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED);
    String uids = config.get(ExecutionConfigOptions.TABLE_EXEC_UID_FORMAT);
    try {
      config.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, false);
      config.set(ExecutionConfigOptions.TABLE_EXEC_UID_FORMAT, SOURCE_UIDS);
      Table rows =
          tables.sqlQuery("SELECT message, record_time, `partition`, `offset` FROM otlp_spans");
      DataType type =
          DataTypes.ROW(
                  DataTypes.FIELD("message", DataTypes.BYTES()),
                  DataTypes.FIELD("record_time", DataTypes.TIMESTAMP_LTZ(3).notNull()),
                  DataTypes.FIELD("partition", DataTypes.INT().notNull()),
                  DataTypes.FIELD("offset", DataTypes.BIGINT().notNull()))
              .notNull()
              .bridgedTo(RowData.class);
      return tables.toDataStream(rows, type);
    } finally {
      config.set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, batched);
      config.set(ExecutionConfigOptions.TABLE_EXEC_UID_FORMAT, uids);
    }
  }

  /**
   * Limits the readers to the number of partitions: a reader without one never has a watermark, and
   * without an idle time-out would hold back all the others.
   */
  private static void limit(Transformation<?> reading, int readers) {
    reading.setParallelism(readers);
    reading.getInputs().forEach(input -> limit(input, readers));
  }

  private static KeyedStream<Message, Tuple2<Long, Long>> keyed(
      DataStream<Message> messages, int parallelism) {
    KeySelector<Message, Tuple2<Long, Long>> hash =
        message -> Tuple2.of(message.hashHigh(), message.hashLow());
    return parallelism == 1
        ? DataStreamUtils.reinterpretAsKeyedStream(
            messages, hash, Types.TUPLE(Types.LONG, Types.LONG))
        : messages.keyBy(hash, Types.TUPLE(Types.LONG, Types.LONG));
  }

  private static DataStream<MessageFragments> spread(
      DataStream<MessageFragments> fragments, int parallelism) {
    Partitioner<Integer> byTask = (task, tasks) -> task;
    return parallelism == 1 ? fragments : fragments.partitionCustom(byTask, MessageFragments::task);
  }

  private static void view(
      StreamTableEnvironment tables, SingleOutputStreamOperator<?> from, SpanView table) {
    DataStream<RowData> rows = from.getSideOutput(table.tag());
    tables.createTemporaryView("span_" + table.label(), tables.fromDataStream(rows));
  }
}
