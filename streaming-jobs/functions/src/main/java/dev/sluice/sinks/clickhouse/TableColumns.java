package dev.sluice.sinks.clickhouse;

import com.clickhouse.client.api.query.GenericRecord;
import com.clickhouse.data.ClickHouseColumn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The columns of the server's table that the sink writes, and how many partitions it takes at once.
 * Two values are equal if rows are encoded in the same way for both.
 *
 * @param positions of the sink's columns that the table takes, ascending
 * @param columns these columns, as the server has them
 * @param types their names as the server writes them: it compares letter by letter
 * @param missing names of the sink's other columns
 * @param partitions how rows are grouped
 */
record TableColumns(
    List<Integer> positions,
    List<ClickHouseColumn> columns,
    List<String> types,
    List<String> missing,
    Partitions partitions) {
  // Nothing can be inserted into these.
  private static final List<String> COMPUTED = List.of("MATERIALIZED", "ALIAS");

  private static final String COLUMNS =
      "SELECT name, type, default_kind FROM system.columns"
          + " WHERE database = {database:String} AND table = {table:String}";
  private static final String PARTITIONS =
      // A Distributed table has no key of its own; the key is that of the tables beneath it.
      "SELECT max(partition_key) AS partition_key, (SELECT value FROM system.settings"
          + " WHERE name = 'max_partitions_per_insert_block') AS most FROM system.tables"
          + " WHERE database = {database:String}"
          + " AND name IN ({table:String}, concat({table:String}, '_local'))";

  /**
   * Reads the present table.
   *
   * @throws IOException if there is no such table
   */
  static TableColumns read(ClickHouseServer server, String table, List<String> sink)
      throws IOException {
    Map<String, Object> names = Map.of("database", server.database(), "table", table);
    Map<String, String> types = new HashMap<>();
    for (GenericRecord row : server.query(COLUMNS, names)) {
      if (!COMPUTED.contains(row.getString("default_kind"))) {
        types.put(row.getString("name"), row.getString("type"));
      }
    }
    List<GenericRecord> tables = server.query(PARTITIONS, names);
    if (types.isEmpty() || tables.isEmpty()) {
      throw new IOException("there is no table " + server.database() + "." + table);
    }
    GenericRecord row = tables.get(0);
    return of(
        sink,
        types,
        Partitions.of(
            row.getString("partition_key"), sink, Integer.parseInt(row.getString("most"))));
  }

  static TableColumns of(List<String> sink, Map<String, String> types, Partitions partitions) {
    List<Integer> positions = new ArrayList<>();
    List<ClickHouseColumn> columns = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (int i = 0; i < sink.size(); i++) {
      String type = types.get(sink.get(i));
      if (type == null) {
        missing.add(sink.get(i));
      } else {
        positions.add(i);
        columns.add(ClickHouseColumn.of(sink.get(i), type));
        names.add(type);
      }
    }
    return new TableColumns(positions, columns, names, missing, partitions);
  }

  List<String> names() {
    return columns.stream().map(ClickHouseColumn::getColumnName).toList();
  }

  boolean sameAs(TableColumns other) {
    return positions.equals(other.positions)
        && types.equals(other.types)
        && partitions.equals(other.partitions);
  }
}
