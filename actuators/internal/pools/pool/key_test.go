package pool_test

import (
	"testing"

	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

func TestKey(t *testing.T) {
	tests := []struct {
		key  pool.Key
		text string
	}{
		{pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}, "cart/server"},
		{pool.Key{Service: "catalogue", Side: poolsv1.Side_SIDE_CLIENT, Peer: "catalogue-db"}, "catalogue/client/catalogue-db"},
		{pool.Key{Service: "mail", Side: poolsv1.Side_SIDE_CONSUMER}, "mail/consumer"},
		{pool.Key{}, "/unspecified"},
	}
	for _, tt := range tests {
		if got := tt.key.String(); got != tt.text {
			t.Errorf("String() = %q, want %q", got, tt.text)
		}
		if got := pool.FromProto(tt.key.Proto()); got != tt.key {
			t.Errorf("to the wire and back: %v, want %v", got, tt.key)
		}
	}
	if got := pool.FromProto(nil); got != (pool.Key{}) {
		t.Errorf("FromProto(nil) = %v, want the zero Key", got)
	}
}

func TestParseSide(t *testing.T) {
	for _, name := range []string{"server", "client", "consumer"} {
		side, err := pool.ParseSide(name)
		if err != nil || pool.SideName(side) != name {
			t.Errorf("ParseSide(%q) = %v, %v", name, side, err)
		}
	}
	for _, name := range []string{"", "SERVER", "unspecified"} {
		if side, err := pool.ParseSide(name); err == nil {
			t.Errorf("ParseSide(%q) = %v, want an error", name, side)
		}
	}
}
