package dev.sluice.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.clock.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** How many tasks read the topic: a reader without a partition would hold back the watermark. */
class ReadersTest {
  /** A topic of three partitions. */
  private record Three() implements Clock {
    @Override
    public int partitions() {
      return 3;
    }

    @Override
    public AutoCloseable start(MetricGroup metrics) {
      return () -> {};
    }
  }

  /** Parallelism of what reads, and of what assembles traces. */
  private static Map<String, Integer> parallelisms(int ofTheJob, Clock clock) {
    StreamExecutionEnvironment stream = SharedCluster.environment(ofTheJob);
    StreamTableEnvironment tables = StreamTableEnvironment.create(stream);
    tables.getConfig().set("pipeline.global-job-parameters", new Fed().jobParameters("edge"));
    tables.createTemporaryView(
        "otlp_spans",
        tables.fromDataStream(
            stream
                .fromSequence(0, 1)
                .map(offset -> Row.of(new byte[0], Instant.EPOCH, 0, offset))
                .returns(Fed.MESSAGE),
            Fed.SCHEMA));
    SpanStreams.define(tables, clock);
    tables.toDataStream(tables.from("span_edge")).print();
    Map<String, Integer> parallelisms = new TreeMap<>();
    for (StreamNode node : stream.getStreamGraph().getStreamNodes()) {
      parallelisms.put(node.getOperatorName(), node.getParallelism());
    }
    return parallelisms;
  }

  @Test
  void areNoMoreThanPartitions() {
    assertThat(parallelisms(5, new Three()))
        .containsEntry("Source: Sequence Source", 3)
        .containsEntry("messages", 3)
        .containsEntry("repeated messages", 5)
        .containsEntry("traces", 5);
  }

  @Test
  void areAsManyAsTasksOfTheJobOtherwise() {
    assertThat(parallelisms(2, new Three())).containsEntry("messages", 2);
    assertThat(parallelisms(5, null)).containsEntry("messages", 5);
  }
}
