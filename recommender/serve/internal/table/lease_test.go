package table

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

func TestALeaseIsAgedByTheTimeOfItsRecord(t *testing.T) {
	read := time.Now()
	beat := &poolsv1.ShardHeartbeat{Lease: durationpb.New(30 * time.Second)}
	for _, tt := range []struct {
		name        string
		age, after  time.Duration
		left, until time.Duration // until: from when it was read
	}{
		{"just written", 0, 0, 30 * time.Second, 30 * time.Second},
		{"read 10 s later", 10 * time.Second, 0, 20 * time.Second, 20 * time.Second},
		{"and 5 s on", 10 * time.Second, 5 * time.Second, 15 * time.Second, 20 * time.Second},
		{"over", 10 * time.Second, time.Minute, 0, 20 * time.Second},
		{"written long ago", time.Hour, 0, 0, 30*time.Second - time.Hour},
		{"a broker whose clock is an hour ahead lengthens nothing", -time.Hour, 0, 30 * time.Second, time.Hour + 30*time.Second},
	} {
		l := newLease(beat, read.Add(-tt.age), read)
		if got := l.Left(read.Add(tt.after)); got != tt.left {
			t.Errorf("%s: %v left, want %v", tt.name, got, tt.left)
		}
		if got := l.Until.Sub(read.Round(0)); got != tt.until {
			t.Errorf("%s: until %v, want %v", tt.name, got, tt.until)
		}
	}
}

func TestAnAnswerThatIsNotRenewedKeepsItsOwnEnd(t *testing.T) {
	read := time.Now()
	cart, late := keys.Pool{Service: "cart", Side: 1}, keys.Pool{Service: "late", Side: 1}
	l := newLease(&poolsv1.ShardHeartbeat{
		Lease: durationpb.New(30 * time.Second),
		NotRenewed: []*poolsv1.NotRenewed{
			{Pool: cart.Proto(), ValidUntil: timestamppb.New(read.Add(3 * time.Second))},
			{Pool: late.Proto(), ValidUntil: timestamppb.New(read.Add(time.Hour))},
		},
	}, read, read)
	for pool, want := range map[keys.Pool]time.Duration{
		cart:                        3 * time.Second,
		late:                        30 * time.Second, // never more than the shard's
		{Service: "other", Side: 1}: 30 * time.Second,
	} {
		if _, left := l.For(pool, read); left.Round(time.Millisecond) != want {
			t.Errorf("%s: %v left, want %v", pool, left, want)
		}
	}
}
