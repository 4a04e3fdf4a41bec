package status

import (
	"testing"
	"time"
)

func TestNotLiveWhenNoTargetHadAPassForLong(t *testing.T) {
	b := &Board{}
	b.turned = time.Now().Add(-time.Hour)
	if cause := b.standsStill(); cause != "" {
		t.Errorf("without a target: %q", cause)
	}
	b.order = []string{"cart.threads", "cart.rows"}
	if cause := b.standsStill(); cause != "targets: the last pass over any of the 2 ended 1h0m0s ago; limit 15m0s" {
		t.Error(cause)
	}
	b.turned = time.Now().Add(-14 * time.Minute)
	if cause := b.standsStill(); cause != "" {
		t.Error(cause)
	}
}
