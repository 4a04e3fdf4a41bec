package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.FlushPolicy;
import dev.sluice.sinks.PrimaryKey;
import dev.sluice.sinks.SinkTable;
import dev.sluice.sinks.UpsertSink;
import dev.sluice.sinks.UpsertTableSink;
import dev.sluice.sinks.rejects.RejectedRows;
import dev.sluice.sinks.rejects.RejectsOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/**
 * {@code 'connector' = 'clickhouse'}: upserts into a ReplacingMergeTree. The row's version column
 * decides which of several rows stays, so that the order of writing does not matter.
 */
public final class ClickHouseSinkFactory implements DynamicTableSinkFactory {
  @Override
  public String factoryIdentifier() {
    return "clickhouse";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return RejectsOptions.required(ClickHouseOptions.ADDRESS.url, ClickHouseOptions.TABLE);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    List<ConfigOption<?>> own = new ArrayList<>(ClickHouseOptions.ADDRESS.optional());
    own.addAll(List.of(FlushPolicy.MAX_ROWS, FlushPolicy.INTERVAL));
    return RejectsOptions.optional(own);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validateExcept(RejectsOptions.PROPERTIES);
    ClickHouseOptions options = ClickHouseOptions.of(helper.getOptions());
    ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
    List<String> columns = List.copyOf(schema.getColumnNames());
    int[] keyColumns = PrimaryKey.columns(schema, options.table());
    RowType type = (RowType) schema.toPhysicalRowDataType().getLogicalType();
    RejectsOptions rejects =
        RejectsOptions.of(helper.getOptions(), context.getCatalogTable().getOptions());
    RejectedRows.Source source =
        new RejectedRows.Source("clickhouse", options.table(), columns, keyColumns);
    SinkTable<BinaryRowData> table =
        new SinkTable<>(
            () -> new ClickHouseTarget(options, type),
            () -> new RejectedRows(source, rejects),
            "ClickHouse " + options,
            type,
            keyColumns);
    return new UpsertTableSink(
        new UpsertSink(table, FlushPolicy.of(helper.getOptions())), table.store());
  }
}
