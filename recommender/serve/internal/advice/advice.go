// Package advice has the advice on the hardware under server pools, as numbers for autoscalers.
package advice

import (
	"time"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Names of the metrics, and their help texts.
const (
	Replicas     = "sluice_pool_advised_replicas"
	Cores        = "sluice_pool_advised_cpu_limit_cores"
	ReplicasHelp = "Replicas of a service that serve the demand on its server pool; the present number if no better one is known."
	CoresHelp    = "CPU limit of one instance that serves the demand on its server pool, in cores; the present limit if no better one is known."
)

// Walk calls visit for every service with advice at now. It leaves out a pool without advice, or whose lease is over: an
// autoscaler that finds no value changes nothing.
func Walk(t *table.Tables, now time.Time, visit func(service string, advice *poolsv1.Advice)) {
	if t == nil {
		return
	}
	for after, more := (keys.Pool{}), true; more; {
		var page []*table.Pool
		var view *table.View[keys.Pool, *poolsv1.PoolSize]
		page, more, view = t.Pools.Page(after, pageSize, func(keys.Pool) bool { return true })
		for _, e := range page {
			after = e.Key
			advice, lease := e.Publication.GetAdvice(), view.Shards[e.Shard].Lease
			if advice == nil || lease == nil || e.Key.Side != poolsv1.Side_SIDE_SERVER {
				continue
			}
			if _, left := lease.For(e.Key, now); left > 0 {
				visit(e.Key.Service, advice)
			}
		}
	}
}

// ForService is the advice on a service; nil without one.
func ForService(t *table.Tables, service string, now time.Time) *poolsv1.Advice {
	if t == nil {
		return nil
	}
	e, view := t.Pools.Get(keys.Pool{Service: service, Side: poolsv1.Side_SIDE_SERVER})
	if e == nil || view.Shards[e.Shard].Lease == nil {
		return nil
	}
	if _, left := view.Shards[e.Shard].Lease.For(e.Key, now); left <= 0 {
		return nil
	}
	return e.Publication.GetAdvice()
}

const pageSize = 1000
