package xds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/table"

	commonv1 "sluice.dev/api/common/v1"
)

// SizedPools are the client pools whose size Envoys get, as max_connections of the peer's cluster. Empty: none.
type SizedPools map[keys.Pool]bool

// ParseSizedPools reads SERVICE/client/PEER,..., names percent-encoded if they have a comma, slash or percent sign.
func ParseSizedPools(text string) (SizedPools, error) {
	pools := SizedPools{}
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		pool, err := keys.ParsePool("pool/" + name)
		if err != nil || pool.Peer == "" {
			return nil, fmt.Errorf("%q is no client pool", name)
		}
		pools[pool] = true
	}
	return pools, nil
}

// poolSize is the size of a pool that an Envoy gets, or has. 0: no size, so no limit.
type poolSize struct {
	pool     keys.Pool
	size     uint32
	revision uint64
}

// setPoolSize sets a cluster's pool size, if the pool is one of the hub's SizedPools.
//
// It sets max_connections alone. Of Envoy's thresholds it is the one beyond which requests wait, as for a pool; requests
// beyond max_requests fail. It counts for the whole cluster, over all workers and hosts; beyond it each worker has one
// connection to a host that it picked. A cluster that changes is built again: its connections are drained, so that a smaller
// size holds, too.
func (c *client) setPoolSize(tables *table.Tables, message *cluster.Cluster, r *resource) {
	pool := keys.Pool{Service: c.node.upstream, Side: clientSide, Peer: message.GetName()}
	if !c.hub.settings.SizedPools[pool] {
		return
	}
	last, known := c.offered[pool.Peer]
	e, view := tables.Pools.Get(pool)
	switch {
	case e != nil:
		last = poolSize{pool, c.size(e, view.Shards[e.Shard].Lease, last, known), e.Publication.GetRevision()}
		r.version.topic = topicName(view.Topic)
		r.version.add(e.Shard, e.Offset)
	case !known:
		return
	}
	r.poolSize = &last
	if last.size > 0 {
		message.CircuitBreakers.Thresholds[0].MaxConnections = wrapperspb.UInt32(last.size)
	}
}

// size is a decision's target size for the node, while the node may apply it; else the node's size, as sent on this stream, or
// as read back last. 0: unknown.
func (c *client) size(e *table.Pool, lease *table.Lease, sent poolSize, known bool) uint32 {
	decision := e.Publication
	if decision.GetAction() == commonv1.Action_ACTION_APPLY && decision.GetTarget() > 0 && lease != nil {
		_, left := lease.For(e.Key, time.Now())
		if left > 0 && (len(decision.GetTargets()) == 0 || slices.Contains(decision.GetTargets(), c.node.instance)) {
			return decision.GetTarget()
		}
	}
	if known {
		return sent.size
	}
	for _, target := range decision.GetSizes() {
		if target.GetInstance() == c.node.instance {
			return target.GetSize()
		}
	}
	return decision.GetCurrent()
}
