package xds

import (
	"testing"
	"time"
)

func TestTenRefusalsAMinuteAreLoggedAndTheOthersCounted(t *testing.T) {
	var r refusals
	start := time.Unix(1000, 0)
	for n := range 25 {
		if allowed, unnamed := r.take(start.Add(time.Duration(n) * time.Second)); allowed != (n < 10) || unnamed != 0 {
			t.Errorf("refusal %d: %t, %d", n, allowed, unnamed)
		}
	}
	if allowed, unnamed := r.take(start.Add(time.Minute)); !allowed || unnamed != 15 {
		t.Error("the next minute:", allowed, unnamed)
	}
	if allowed, unnamed := r.take(start.Add(time.Minute)); !allowed || unnamed != 0 {
		t.Error("the 15 are said once:", allowed, unnamed)
	}
}
