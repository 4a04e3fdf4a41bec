package xds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	clientSide = poolsv1.Side_SIDE_CLIENT
	// observeEvery is well below a minute, after which a size no longer counts.
	observeEvery = 15 * time.Second
	actuator     = "sluice-server xds"
)

// recordHeld records a cluster that the client had at its connection, so that nobody sends or acknowledges it again. The hub's
// lock is held.
func (c *client) recordHeld(kind string, r resource) {
	if kind != clusterType || r.poolSize == nil || c.acked[kind+r.name] == r.version.String()+" "+refusedText {
		return
	}
	if _, known := c.inForce[r.name]; !known {
		c.inForce[r.name], c.offered[r.name] = *r.poolSize, *r.poolSize
		c.reportSize(*r.poolSize, nil)
	}
}

// recordPoolSize records the client's response to the size of a cluster. The hub's lock is held.
func (c *client) recordPoolSize(name string, refused *spb.Status) {
	sent, ok := c.offered[name]
	if !ok {
		return
	}
	previous, known := c.inForce[name]
	if refused != nil {
		c.offered[name] = previous
		if known {
			c.reportSize(previous, &poolsv1.Actuation{
				Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_FAILED, Requested: optionalSize(sent), Previous: optionalSize(previous),
				Revision: sent.revision, Detail: truncate(refused.GetMessage()),
			})
		}
		return
	}
	c.inForce[name] = sent
	if sent.size == previous.size {
		c.reportSize(sent, nil)
		return
	}
	c.reportSize(sent, &poolsv1.Actuation{
		Outcome: poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED, Requested: optionalSize(sent), Previous: optionalSize(previous),
		Revision: sent.revision, Detail: "max_connections of cluster " + name + ", acknowledged by " + c.node.id,
	})
}

// optionalSize is nil without a size.
func optionalSize(s poolSize) *uint32 {
	if s.size == 0 {
		return nil
	}
	return proto.Uint32(s.size)
}

// reportSize writes the client's size to the journal, with an actuation if it is not nil.
func (c *client) reportSize(inForce poolSize, actuation *poolsv1.Actuation) {
	tables := c.hub.tables.Load()
	if tables == nil {
		return
	}
	e, _ := tables.Pools.Get(inForce.pool)
	if e == nil {
		return
	}
	caller, now := c.caller, time.Now()
	if caller == "" {
		caller = c.node.id
	}
	size := &poolsv1.TargetSize{Instance: c.node.instance, Size: optionalSize(inForce), Unbounded: inForce.size == 0, ReadAt: timestamppb.New(now)}
	observation := &poolsv1.ObservedSize{Pool: inForce.pool.Proto(), Size: size, TargetName: targetName(inForce), Actuator: actuator, By: caller}
	var report *poolsv1.Report
	if actuation != nil {
		actuation.Pool, actuation.Instance, actuation.TargetName, actuation.Actuator = inForce.pool.Proto(), c.node.instance, targetName(inForce), actuator
		actuation.ReadBack, actuation.Unbounded, actuation.At = size.Size, size.GetUnbounded(), timestamppb.New(now)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%v\n%d", c.node.id, inForce.pool.Record(), actuation.GetOutcome(), now.UnixNano()))
		report = &poolsv1.Report{
			RequestId: hex.EncodeToString(sum[:16]), Received: timestamppb.New(now), By: caller,
			Report: &poolsv1.Report_Actuation{Actuation: actuation},
		}
		observation.RequestId, observation.Written = report.GetRequestId(), actuation.GetOutcome() == poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED
	}
	c.hub.enqueue(func(ctx context.Context) error { return c.hub.write(ctx, e, observation, report) })
}

// write writes the size before the audit, as ReportActuation does.
func (h *Hub) write(ctx context.Context, e *table.Pool, observation *poolsv1.ObservedSize, report *poolsv1.Report) error {
	if err := h.journal.Observed(ctx, e.Shard, e.Key, observation.GetSize().GetInstance(), observation); err != nil || report == nil {
		return err
	}
	return h.journal.Report(ctx, e.Key.Record(), report, e.Shard)
}

// observe reports again the sizes of the connected clients.
func (h *Hub) observe() {
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-time.After(h.observeEvery):
		}
		h.mu.Lock()
		for c := range h.clients {
			for _, inForce := range c.inForce {
				c.reportSize(inForce, nil)
			}
		}
		h.mu.Unlock()
	}
}

func targetName(inForce poolSize) string { return "cluster " + inForce.pool.Peer }
