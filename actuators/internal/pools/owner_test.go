package pools_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
)

// neighbour owns the target until it is gone.
type neighbour struct {
	mu   sync.Mutex
	gone bool
}

func (n *neighbour) Claim(context.Context, pools.Target) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone {
		return nil
	}
	return errors.New("b@host owns the target")
}

func TestATargetOfAnotherActuatorIsReadAndNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := &neighbour{}
		b := startWith(t, true, func(l *pools.Loop) { l.Owner = other })
		b.recommend(12, 7, time.Hour)
		advance(time.Minute)
		if size, _, _ := b.fake.Read(t.Context()); size.Limit != 64 {
			t.Errorf("wrote %s to another's target", size)
		}
		if d := b.decision(); d.Action != policy.Hold || d.Code != policy.Foreign || d.Text != "b@host owns the target" {
			t.Errorf("decision: %+v", d)
		}
		other.mu.Lock()
		other.gone = true
		other.mu.Unlock()
		advance(2 * time.Second)
		if size, _, _ := b.fake.Read(t.Context()); size.Limit != 12 {
			t.Errorf("size %s once it is ours, want 12", size)
		}
	})
}
