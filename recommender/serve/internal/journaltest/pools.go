package journaltest

import (
	"sluice.dev/serve/internal/keys"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Server is the thread pool of a service.
func Server(service string) keys.Pool {
	return keys.Pool{Service: service, Side: poolsv1.Side_SIDE_SERVER}
}

// Client is the connection pool of a service towards a peer.
func Client(service, peer string) keys.Pool {
	return keys.Pool{Service: service, Side: poolsv1.Side_SIDE_CLIENT, Peer: peer}
}

// Apply is a decision to APPLY, at one target that has another size.
func Apply(pool keys.Pool, revision uint64, target uint32) *poolsv1.PoolSize {
	current := target * 2
	return &poolsv1.PoolSize{
		Pool: pool.Proto(), State: poolsv1.State_STATE_PROVIDED, Action: commonv1.Action_ACTION_APPLY,
		Basis: poolsv1.Basis_BASIS_CURVE, Current: &current, Target: &target, Revision: revision, Model: "belief",
		Confidence: 0.9, Sizes: []*poolsv1.TargetSize{{Instance: "a", Size: &current}},
	}
}

// Deleted is the record of a pool that was removed from the configuration.
func Deleted(pool keys.Pool, revision uint64) *poolsv1.PoolSize {
	return &poolsv1.PoolSize{Pool: pool.Proto(), State: poolsv1.State_STATE_DELETED, Revision: revision}
}
