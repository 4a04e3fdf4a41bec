package dev.sluice.sinks.clickhouse;

import dev.sluice.sinks.FlushPolicy;
import dev.sluice.sinks.PrimaryKey;
import dev.sluice.sinks.UpsertSink;
import dev.sluice.sinks.UpsertTableSink;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/**
 * {@code 'connector' = 'clickhouse'}: upserts into a ReplacingMergeTree. The row's version column
 * decides which of several stays, so that the order of writing does not matter.
 */
public final class ClickHouseSinkFactory implements DynamicTableSinkFactory {
  @Override
  public String factoryIdentifier() {
    return "clickhouse";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(ClickHouseOptions.URL, ClickHouseOptions.TABLE);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(
        ClickHouseOptions.DATABASE,
        ClickHouseOptions.USERNAME,
        ClickHouseOptions.PASSWORD,
        FlushPolicy.MAX_ROWS,
        FlushPolicy.INTERVAL);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    ClickHouseOptions options = ClickHouseOptions.of(helper.getOptions());
    ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
    List<String> columns = List.copyOf(schema.getColumnNames());
    UpsertSink sink =
        new UpsertSink(
            () -> new ClickHouseTarget(options, columns),
            "ClickHouse " + options,
            (RowType) schema.toPhysicalRowDataType().getLogicalType(),
            PrimaryKey.columns(schema, options.table()),
            FlushPolicy.of(helper.getOptions()));
    return new UpsertTableSink(sink, "ClickHouse " + options);
  }
}
