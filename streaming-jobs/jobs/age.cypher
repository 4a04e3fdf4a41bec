// Removes what was not seen for a maximum age before the newest window that was ever written: event time, so that a
// pipeline that stands still removes nothing, and a replay of old spans nothing that is newer than they are.
// The first statement returns that newest window. Each of the others finds by an index what is older than $oldest,
// removes at most $limit of it, and returns how much; it is run until that is 0. What was found is locked, by a
// property that is set and removed, and looked at again before it goes: others may have seen it meanwhile.
MATCH (service:Service)
RETURN max(service.window);

MATCH ()-[calls:CALLS]->() WHERE calls.window < $oldest
WITH calls LIMIT $limit
SET calls.ageing = true
REMOVE calls.ageing
WITH calls WHERE calls.window < $oldest
DELETE calls
RETURN count(*);

MATCH ()-[on:ON]->() WHERE on.window < $oldest
WITH on LIMIT $limit
SET on.ageing = true
REMOVE on.ageing
WITH on WHERE on.window < $oldest
DELETE on
RETURN count(*);

MATCH (instance:Instance) WHERE instance.window < $oldest
WITH instance LIMIT $limit
SET instance.ageing = true
REMOVE instance.ageing
WITH instance WHERE instance.window < $oldest
DETACH DELETE instance
RETURN count(*);

MATCH (host:Host) WHERE host.window < $oldest
WITH host LIMIT $limit
SET host.ageing = true
REMOVE host.ageing
WITH host WHERE host.window < $oldest
DETACH DELETE host
RETURN count(*);

MATCH (operation:Operation) WHERE operation.window < $oldest
WITH operation LIMIT $limit
SET operation.ageing = true
REMOVE operation.ageing
WITH operation WHERE operation.window < $oldest
DETACH DELETE operation
RETURN count(*);

MATCH (operation:Operation) WHERE operation.tree_window < $oldest
WITH operation LIMIT $limit
SET operation.ageing = true
REMOVE operation.ageing
WITH operation WHERE operation.tree_window < $oldest
REMOVE operation.tree, operation.tree_share, operation.tree_traces, operation.tree_total, operation.tree_window
RETURN count(*);

// Its calls, instances and operations are no newer than a service itself, and went before it.
MATCH (service:Service) WHERE service.window < $oldest AND NOT EXISTS { (service)--() }
WITH service LIMIT $limit
SET service.ageing = true
REMOVE service.ageing
WITH service WHERE service.window < $oldest AND NOT EXISTS { (service)--() }
DELETE service
RETURN count(*);
