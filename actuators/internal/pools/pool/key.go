// Package pool names pools: comparable keys for the API's Pool.
package pool

import (
	"fmt"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Key identifies a soft resource: the thread pool of a service (side server, or consumer of messages; no peer), or
// its connection pool towards one peer (side client).
type Key struct {
	Service string
	Side    poolsv1.Side
	Peer    string
}

// FromProto returns the key of p. A nil p gives the zero Key, which no target has.
func FromProto(p *poolsv1.Pool) Key {
	return Key{Service: p.GetService(), Side: p.GetSide(), Peer: p.GetPeer()}
}

// Proto returns k as the API's message.
func (k Key) Proto() *poolsv1.Pool {
	return &poolsv1.Pool{Service: k.Service, Side: k.Side, Peer: k.Peer}
}

// String is for people and logs: "cart/server", "catalogue/client/catalogue-db".
func (k Key) String() string {
	if k.Peer == "" {
		return k.Service + "/" + SideName(k.Side)
	}
	return k.Service + "/" + SideName(k.Side) + "/" + k.Peer
}

// SideName returns "server", "client", "consumer", or "unspecified".
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

// ParseSide is the inverse of SideName for the sides that exist.
func ParseSide(name string) (poolsv1.Side, error) {
	switch name {
	case "server":
		return poolsv1.Side_SIDE_SERVER, nil
	case "client":
		return poolsv1.Side_SIDE_CLIENT, nil
	case "consumer":
		return poolsv1.Side_SIDE_CONSUMER, nil
	default:
		return poolsv1.Side_SIDE_UNSPECIFIED, fmt.Errorf("%q: want server, client or consumer", name)
	}
}
