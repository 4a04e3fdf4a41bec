// The call graph's keys. Graph model:
//   (:Service {name})-[:CALLS {window_s, calls, errors, rate_per_s, error_ratio,
//                              p50_ms, p95_ms, p99_ms}]->(:Service)
//   (:Instance {id, service})-[:OF]->(:Service)
//   (:Instance)-[:ON]->(:Host {name})
//   (:Operation {service, name, tree, tree_share, tree_traces, tree_total, tree_window})-[:OF]->(:Service)
// Every node, CALLS and ON have `window`: the start, in epoch seconds, of the newest 10 s window with
// a span of it. The other properties of CALLS describe that window. `tree` is the most frequent call
// tree (JSON, as in ClickHouse's call_trees) of the operation as a root in the window `tree_window`:
// the tree of tree_traces of its tree_total traces, a share of tree_share (0..1).
// An older window never overwrites a newer one. A job removes nodes and relationships whose window is
// more than an hour older than the graph's newest.
CREATE CONSTRAINT service_name IF NOT EXISTS FOR (s:Service) REQUIRE s.name IS UNIQUE;
CREATE CONSTRAINT instance_key IF NOT EXISTS FOR (i:Instance) REQUIRE (i.service, i.id) IS UNIQUE;
CREATE CONSTRAINT host_name IF NOT EXISTS FOR (h:Host) REQUIRE h.name IS UNIQUE;
CREATE CONSTRAINT operation_key IF NOT EXISTS FOR (o:Operation) REQUIRE (o.service, o.name) IS UNIQUE;

// For the removal of old nodes, which runs every few seconds and reads only these.
CREATE INDEX service_window IF NOT EXISTS FOR (s:Service) ON (s.window);
CREATE INDEX instance_window IF NOT EXISTS FOR (i:Instance) ON (i.window);
CREATE INDEX host_window IF NOT EXISTS FOR (h:Host) ON (h.window);
CREATE INDEX operation_window IF NOT EXISTS FOR (o:Operation) ON (o.window);
CREATE INDEX operation_tree_window IF NOT EXISTS FOR (o:Operation) ON (o.tree_window);
CREATE INDEX calls_window IF NOT EXISTS FOR ()-[c:CALLS]-() ON (c.window);
CREATE INDEX on_window IF NOT EXISTS FOR ()-[on:ON]-() ON (on.window);
