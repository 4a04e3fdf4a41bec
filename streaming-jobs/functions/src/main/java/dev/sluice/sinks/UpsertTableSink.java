package dev.sluice.sinks;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/** The planner's view of a sink of upserts: takes inserts and updates by primary key. */
public final class UpsertTableSink implements DynamicTableSink {
  private static final ChangelogMode UPSERTS =
      ChangelogMode.newBuilder()
          .addContainedKind(RowKind.INSERT)
          .addContainedKind(RowKind.UPDATE_AFTER)
          .build();

  private final Sink<RowData> sink;
  private final String summary;

  public UpsertTableSink(Sink<RowData> sink, String summary) {
    this.sink = sink;
    this.summary = summary;
  }

  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    return UPSERTS;
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    return SinkV2Provider.of(sink);
  }

  @Override
  public DynamicTableSink copy() {
    return new UpsertTableSink(sink, summary);
  }

  @Override
  public String asSummaryString() {
    return summary;
  }
}
