-- The audit, newest first: of one pool where there is a service, of one report where there is an id.
SELECT
    at, request_id, service, side, peer, instance, target_name, actuator, by, outcome, previous, intended, requested,
    read_back, unbounded, revision, state, basis, reasons, threshold_ms, received, log_partition, log_offset, detail
FROM v_actuation_history
WHERE ({service:String} = '' OR (service = {service:String} AND side = {side:String} AND peer = {peer:String}))
    AND startsWith(request_id, {id:String})
ORDER BY at DESC, request_id
LIMIT {limit:UInt32}
