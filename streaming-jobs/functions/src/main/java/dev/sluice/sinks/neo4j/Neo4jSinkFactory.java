package dev.sluice.sinks.neo4j;

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
 * {@code 'connector' = 'neo4j'}: merges aggregates into a graph by the Cypher statement of the
 * table's options. For rows per window, never per trace: a relationship is a lock.
 */
public final class Neo4jSinkFactory implements DynamicTableSinkFactory {
  @Override
  public String factoryIdentifier() {
    return "neo4j";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(Neo4jOptions.URI, Neo4jOptions.PASSWORD, Neo4jOptions.CYPHER);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(
        Neo4jOptions.DATABASE,
        Neo4jOptions.USERNAME,
        Neo4jOptions.AFTERWARDS,
        FlushPolicy.MAX_ROWS,
        FlushPolicy.INTERVAL);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    Neo4jOptions options = Neo4jOptions.of(helper.getOptions());
    ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
    List<String> columns = List.copyOf(schema.getColumnNames());
    UpsertSink sink =
        new UpsertSink(
            () -> new Neo4jTarget(options, columns),
            "Neo4j " + options,
            (RowType) schema.toPhysicalRowDataType().getLogicalType(),
            PrimaryKey.columns(schema, options.toString()),
            FlushPolicy.of(helper.getOptions()));
    return new UpsertTableSink(sink, "Neo4j " + options);
  }
}
