// Removes what was not seen for $max_age_s before the newest window that was ever written: event time, so that a
// pipeline that stands still removes nothing, and a replay of old spans nothing that is newer than they are.
MATCH (service:Service)
WITH max(service.window) - $max_age_s AS oldest
CALL (oldest) {
  MATCH ()-[calls:CALLS]->() WHERE calls.window < oldest
  DELETE calls
}
CALL (oldest) {
  MATCH ()-[on:ON]->() WHERE on.window < oldest
  DELETE on
}
CALL (oldest) {
  MATCH (instance:Instance) WHERE instance.window < oldest
  DETACH DELETE instance
}
CALL (oldest) {
  MATCH (host:Host) WHERE host.window < oldest
  DETACH DELETE host
}
CALL (oldest) {
  MATCH (operation:Operation) WHERE operation.window < oldest
  DETACH DELETE operation
}
CALL (oldest) {
  MATCH (operation:Operation) WHERE operation.tree_window < oldest
  REMOVE operation.tree, operation.tree_share, operation.tree_traces, operation.tree_total, operation.tree_window
}
// Its calls, instances and operations are no newer than a service itself, and went before it.
CALL (oldest) {
  MATCH (service:Service) WHERE service.window < oldest AND NOT EXISTS { (service)--() }
  DELETE service
}
