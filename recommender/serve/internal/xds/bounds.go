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

// Bounds are the client pools whose size Envoys get, as max_connections of the peer's cluster. Empty: none.
type Bounds map[keys.Pool]bool

// ParseBounds reads SERVICE/client/PEER,..., names percent-encoded where they have a comma, slash or percent sign.
func ParseBounds(text string) (Bounds, error) {
	those := Bounds{}
	for _, each := range strings.Split(text, ",") {
		if each = strings.TrimSpace(each); each == "" {
			continue
		}
		pool, err := keys.ParsePool("pool/" + each)
		if err != nil || pool.Peer == "" {
			return nil, fmt.Errorf("%q is no client pool", each)
		}
		those[pool] = true
	}
	return those, nil
}

// bound is the size of a pool that an Envoy gets, or has. size is 0 where there is none: then all connections are let in.
type bound struct {
	pool     keys.Pool
	size     uint32
	revision uint64
}

// bind sets a cluster's pool size, where it is configured.
//
// It sets max_connections alone. Of Envoy's thresholds it is the one beyond which requests wait, as for a pool; requests
// beyond max_requests fail. It counts for the whole cluster, over all workers and hosts; beyond it each worker has one
// connection to a host that it picked. A cluster that changes is built again: its connections are drained, so that a smaller
// size holds, too.
func (c *client) bind(tables *table.Log, of *cluster.Cluster, r *resource) {
	pool := keys.Pool{Service: c.node.upstream, Side: clientSide, Peer: of.GetName()}
	if !c.hub.bounds[pool] {
		return
	}
	last, known := c.offered[pool.Peer]
	e, view := tables.Pools.Get(pool)
	switch {
	case e != nil:
		last = bound{pool, c.size(e, view.Shards[e.Shard].Lease, last, known), e.Answer.GetRevision()}
		r.version.topic = topicName(view.Topic)
		r.version.add(e.Shard, e.Offset)
	case !known:
		return
	}
	r.bound = &last
	if last.size > 0 {
		of.CircuitBreakers.Thresholds[0].MaxConnections = wrapperspb.UInt32(last.size)
	}
}

// size is the target size of a decision for the node, while it may be applied; else the size that the node has: as sent on
// this stream, or as read back last. 0: not known.
func (c *client) size(e *table.Pool, lease *table.Lease, sent bound, known bool) uint32 {
	of := e.Answer
	if of.GetAction() == commonv1.Action_ACTION_APPLY && of.GetTarget() > 0 && lease != nil {
		_, left := lease.Of(e.Key, time.Now())
		if left > 0 && (len(of.GetTargets()) == 0 || slices.Contains(of.GetTargets(), c.node.instance)) {
			return of.GetTarget()
		}
	}
	if known {
		return sent.size
	}
	for _, each := range of.GetSizes() {
		if each.GetInstance() == c.node.instance {
			return each.GetSize()
		}
	}
	return of.GetCurrent()
}
