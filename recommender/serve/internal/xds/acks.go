package xds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

const (
	// mostWaiting deliveries wait for the journal; further ones are counted and dropped.
	mostWaiting = 10_000
	mostDetail  = 4096
)

// acknowledge handles the ACK or NACK in a request. It counts the outcome, and writes it to the journal once for each version
// of a subset.
func (c *client) acknowledge(kind, nonce string, returned map[string]string, refused *spb.Status) {
	if nonce == "" {
		return
	}
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	outcome := subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED
	if refused != nil {
		outcome = subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED
	}
	for name, version := range returned {
		response := version + " " + outcome.String()
		if last := c.acked[kind+name]; version == "" || last == response || refused == nil && last == version+" "+refusedText {
			continue
		}
		c.acked[kind+name] = response
		c.hub.counts.answers.WithLabelValues(short(kind), outcome.String()[len("DELIVERY_OUTCOME_"):]).Inc()
		if refused != nil {
			c.hub.logRefusal(time.Now(), "node", c.node.id, "type", short(kind), "name", name, "why", truncate(refused.GetMessage()))
		}
		if kind == clusterType {
			c.recordPoolSize(name, refused)
		}
		if kind == endpointType && c.revisions[name] > 0 {
			c.reportDelivery(name, version, outcome, truncate(refused.GetMessage()))
		}
	}
}

var refusedText = subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_REFUSED.String()

func (c *client) reportDelivery(service, version string, outcome subsetsv1.DeliveryOutcome, detail string) {
	tables := c.hub.tables.Load()
	key := keys.Subset{Upstream: c.node.upstream, Instance: c.node.instance, Downstream: service}
	if tables == nil {
		return
	}
	e, _ := tables.Subsets.Get(key)
	if e == nil {
		return // it was deleted meanwhile
	}
	caller, now := c.caller, time.Now()
	if caller == "" {
		caller = c.node.id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%d", c.node.id, key.Record(), version, outcome, now.UnixNano()))
	report := &subsetsv1.SubsetReport{
		RequestId: hex.EncodeToString(sum[:16]), Received: timestamppb.New(now), By: caller,
		Delivery: &subsetsv1.Delivery{
			Key: key.Proto(), Outcome: outcome, Revision: c.revisions[service], Client: c.node.id, Detail: detail, At: timestamppb.New(now),
		},
	}
	c.hub.enqueue(func(ctx context.Context) error { return c.hub.journal.Deliver(ctx, e.Shard, key, report) })
}

// enqueue queues a write to the journal; writes keep their order.
func (h *Hub) enqueue(write func(context.Context) error) {
	select {
	case h.queue <- write:
	default:
		h.counts.undelivered.Inc()
	}
}

// deliver writes the queued reports. While the journal is away, the hub counts and drops reports beyond the queue.
func (h *Hub) deliver() {
	for {
		select {
		case <-h.ctx.Done():
			return
		case write := <-h.queue:
			if err := write(h.ctx); err != nil {
				h.counts.undelivered.Inc()
			}
		}
	}
}

// truncate cuts a text at mostDetail bytes or before, between two characters: protobuf takes nothing else.
func truncate(text string) string {
	if len(text) <= mostDetail {
		return text
	}
	end := mostDetail
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
