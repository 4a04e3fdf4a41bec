// Package keys names records in the journal: of pools, shards, targets and services, as collector/topics.yaml defines them.
package keys

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Critical is the key of the services on critical paths, among the explanations.
const Critical = "critical"

// Pool is the key of a pool: the thread pool of a service (side server, or consumer of messages; no peer), or its connection
// pool towards one peer.
type Pool struct {
	Service string
	Side    poolsv1.Side
	Peer    string
}

// PoolOf returns the key of p; the zero Pool for nil.
func PoolOf(p *poolsv1.Pool) Pool {
	return Pool{Service: p.GetService(), Side: p.GetSide(), Peer: p.GetPeer()}
}

// Proto returns p as the API's message.
func (p Pool) Proto() *poolsv1.Pool {
	return &poolsv1.Pool{Service: p.Service, Side: p.Side, Peer: p.Peer}
}

// Compare orders by service, side and peer, as lists are.
func (p Pool) Compare(q Pool) int {
	return cmp.Or(cmp.Compare(p.Service, q.Service), cmp.Compare(p.Side, q.Side), cmp.Compare(p.Peer, q.Peer))
}

// String is for people: "cart/server", "catalogue/client/catalogue-db".
func (p Pool) String() string {
	if p.Peer == "" {
		return p.Service + "/" + SideName(p.Side)
	}
	return p.Service + "/" + SideName(p.Side) + "/" + p.Peer
}

// Legal is true for the key of a possible pool: a client pool has a peer, and no other pool has one.
func (p Pool) Legal() bool {
	switch p.Side {
	case poolsv1.Side_SIDE_SERVER, poolsv1.Side_SIDE_CONSUMER:
		return p.Service != "" && p.Peer == ""
	case poolsv1.Side_SIDE_CLIENT:
		return p.Service != "" && p.Peer != ""
	default:
		return false
	}
}

// SideName is "server", "client", "consumer" or "unspecified".
func SideName(side poolsv1.Side) string {
	switch side {
	case poolsv1.Side_SIDE_SERVER:
		return "server"
	case poolsv1.Side_SIDE_CLIENT:
		return "client"
	case poolsv1.Side_SIDE_CONSUMER:
		return "consumer"
	default:
		return "unspecified"
	}
}

// Group is the service: most watchers that select pools select those of one service.
func (p Pool) Group() string { return p.Service }

// Record is the key of a pool's record: pool/SERVICE/SIDE/PEER, names percent-encoded; PEER is empty except for a client
// pool.
func (p Pool) Record() string {
	return strings.Join([]string{"pool", escape(p.Service), SideName(p.Side), escape(p.Peer)}, "/")
}

// Candidate is the key of a candidate's record: candidate/SERVICE/SIDE/PEER.
func (p Pool) Candidate() string { return "candidate" + strings.TrimPrefix(p.Record(), "pool") }

// Target is the key of an observed size: target/SERVICE/SIDE/PEER/INSTANCE.
func (p Pool) Target(instance string) string {
	return strings.Join([]string{"target", escape(p.Service), SideName(p.Side), escape(p.Peer), escape(instance)}, "/")
}

// Service is the key of a report on a whole service: service/SERVICE.
func Service(name string) string { return "service/" + escape(name) }

// ParsePool is the inverse of Record.
func ParsePool(record string) (Pool, error) {
	parts := strings.Split(record, "/")
	if len(parts) != 4 || parts[0] != "pool" {
		return Pool{}, fmt.Errorf("%q: want pool/SERVICE/SIDE/PEER", record)
	}
	service, err := url.PathUnescape(parts[1])
	if err != nil {
		return Pool{}, fmt.Errorf("%q: %w", record, err)
	}
	peer, err := url.PathUnescape(parts[3])
	if err != nil {
		return Pool{}, fmt.Errorf("%q: %w", record, err)
	}
	p := Pool{Service: service, Peer: peer}
	switch parts[2] {
	case "server":
		p.Side = poolsv1.Side_SIDE_SERVER
	case "client":
		p.Side = poolsv1.Side_SIDE_CLIENT
	case "consumer":
		p.Side = poolsv1.Side_SIDE_CONSUMER
	}
	if !p.Legal() {
		return Pool{}, fmt.Errorf("%q: want pool/SERVICE/SIDE/PEER, with a peer for side client alone", record)
	}
	return p, nil
}

// ParseCandidate is the inverse of Candidate.
func ParseCandidate(record string) (Pool, error) {
	names, ok := strings.CutPrefix(record, "candidate/")
	if !ok {
		return Pool{}, fmt.Errorf("%q: want candidate/SERVICE/SIDE/PEER", record)
	}
	return ParsePool("pool/" + names)
}

// escape leaves letters, digits and _.-~ as they are, as Python's quote(name, safe="") does.
func escape(name string) string {
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}
