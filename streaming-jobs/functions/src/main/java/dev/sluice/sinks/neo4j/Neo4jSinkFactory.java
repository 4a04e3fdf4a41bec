package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.BufferBounds;
import dev.sluice.sinks.FlushPolicy;
import dev.sluice.sinks.PrimaryKey;
import dev.sluice.sinks.SinkTable;
import dev.sluice.sinks.UpsertTableSink;
import dev.sluice.sinks.WriteBehindSink;
import dev.sluice.sinks.rejects.RejectedRows;
import dev.sluice.sinks.rejects.RejectsOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

/**
 * {@code 'connector' = 'neo4j'}: merges aggregates into a graph by the Cypher statement of the
 * table's options. For rows per window, never per trace, because a relationship is a lock. A graph
 * that is away does not block the job.
 */
public final class Neo4jSinkFactory implements DynamicTableSinkFactory {
  @Override
  public String factoryIdentifier() {
    return "neo4j";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return RejectsOptions.required(Neo4jOptions.URI, Neo4jOptions.CYPHER);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    List<ConfigOption<?>> own = new ArrayList<>(Neo4jOptions.PASSWORD.all());
    own.addAll(
        List.of(
            Neo4jOptions.DATABASE,
            Neo4jOptions.USERNAME,
            Neo4jOptions.AUTHORITY,
            Neo4jOptions.NEWEST_BY,
            AgeingOptions.CYPHER,
            AgeingOptions.MAX_AGE,
            AgeingOptions.INTERVAL,
            BufferBounds.MAX_ROWS,
            BufferBounds.MAX_SIZE,
            FlushPolicy.MAX_ROWS,
            FlushPolicy.INTERVAL));
    return RejectsOptions.optional(own);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validateExcept(RejectsOptions.PROPERTIES);
    ReadableConfig settings = helper.getOptions();
    Neo4jOptions options = Neo4jOptions.of(settings);
    ResolvedSchema schema = context.getCatalogTable().getResolvedSchema();
    List<String> columns = List.copyOf(schema.getColumnNames());
    int[] keyColumns = PrimaryKey.columns(schema, options.toString());
    RejectsOptions rejects = RejectsOptions.of(settings, context.getCatalogTable().getOptions());
    RejectedRows.Source source =
        new RejectedRows.Source(
            "neo4j", context.getObjectIdentifier().getObjectName(), columns, keyColumns);
    SinkTable<Object[]> table =
        new SinkTable<>(
            () -> new Neo4jTarget(options, columns),
            () -> new RejectedRows(source, rejects),
            "Neo4j " + options,
            (RowType) schema.toPhysicalRowDataType().getLogicalType(),
            keyColumns);
    AgeingOptions ageing = AgeingOptions.of(settings);
    WriteBehindSink sink =
        new WriteBehindSink(
            table,
            settings.get(Neo4jOptions.NEWEST_BY),
            FlushPolicy.of(settings),
            BufferBounds.of(settings),
            ageing == null
                ? null
                : metrics -> new Ageing(ageing, new Neo4jGraph(options), metrics));
    return new UpsertTableSink(sink, table.store());
  }
}
