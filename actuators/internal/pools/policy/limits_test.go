package policy_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func TestHours(t *testing.T) {
	moments := []string{"00:00", "05:59", "06:00", "08:00", "12:00", "17:59", "18:00", "21:59", "22:00", "23:59"}
	for text, want := range map[string]string{
		"22:00-06:00": "00:00 05:59 22:00 23:59", "08:00-18:00": "08:00 12:00 17:59", "00:00-00:00": strings.Join(moments, " "),
	} {
		h, err := policy.ParseHours(text)
		if err != nil || h.String() != text {
			t.Fatalf("%s: %v, %v", text, h, err)
		}
		var held []string
		for _, at := range moments {
			if moment, _ := time.Parse("15:04", at); h.Hold(moment) {
				held = append(held, at)
			}
		}
		if got := strings.Join(held, " "); got != want {
			t.Errorf("%s holds at %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "22-06", "24:00-01:00", "22:60-23:00", "22:00-06:00 "} {
		if h, err := policy.ParseHours(text); err == nil {
			t.Errorf("%q is %v, want an error", text, h)
		}
	}
}

func decided(rules policy.Rules, writes policy.Writes, now time.Time) policy.Decision {
	target := uint32(12)
	answer := &poolsv1.PoolSize{Action: commonv1.Action_ACTION_APPLY, Target: &target, ValidUntil: timestamppb.New(now.Add(time.Minute))}
	return policy.Decide(rules, answer, policy.Replica{Size: pool.Of(16), Writes: writes}, now)
}

func TestNothingIsWrittenWhileStoppedOrQuiet(t *testing.T) {
	rules := policy.Rules{Apply: true, Min: 1, Max: 64, MaxFactor: 2}
	if got := decided(rules, policy.Writes{}, midnight); got.Action != policy.Apply {
		t.Fatalf("%+v, want the write that is kept from it below", got)
	}
	rules.Quiet = []policy.Hours{{Begin: 600, End: 660}, {Begin: 1320, End: 360}}
	if got := decided(rules, policy.Writes{}, midnight); got.Action != policy.Hold || got.Code != policy.Quiet {
		t.Errorf("%+v, want quiet hours", got)
	}
	if got := decided(rules, policy.Writes{}, midnight.Add(7*time.Hour)); got.Action != policy.Apply {
		t.Errorf("%+v, want a write after quiet hours", got)
	}
	rules.Stopped = true
	if got := decided(rules, policy.Writes{}, midnight); got.Action != policy.Hold || got.Code != policy.Stopped {
		t.Errorf("%+v, want the kill switch", got)
	}
}

// A recommender that changes the size with every decision is followed so many times an hour.
func TestWritesOfAnHour(t *testing.T) {
	rules := policy.Rules{Apply: true, Min: 1, Max: 64, MaxFactor: 2, PerHour: 4}
	var writes policy.Writes
	made, now := []int{}, midnight
	for minute := range 120 {
		now = midnight.Add(time.Duration(minute) * time.Minute)
		if decided(rules, writes, now).Action == policy.Apply {
			writes = writes.Next(uint32(100+minute), now).Spend(rules.PerHour, now) // never the same
			made = append(made, minute)
		}
	}
	// Four at once, and then one each quarter of an hour.
	want := []int{0, 1, 2, 3, 15, 30, 45, 60, 75, 90, 105}
	if len(made) != len(want) {
		t.Fatalf("written at minutes %v, want %v", made, want)
	}
	for i := range want {
		if made[i] != want[i] {
			t.Fatalf("written at minutes %v, want %v", made, want)
		}
	}
	if got := decided(rules, writes, now); got.Code != policy.TooMany {
		t.Errorf("%+v, want the writes to be spent", got)
	}
}

func TestBackOffEndsWithSuccess(t *testing.T) {
	const cooldown = 10 * time.Second
	var writes policy.Writes
	for range 4 {
		writes = writes.Next(12, midnight)
	}
	writes = writes.Read(pool.Of(12))
	after := func(d time.Duration, size pool.Size) time.Duration {
		return writes.Rest(size, cooldown, midnight.Add(d)).Wait(12, cooldown)
	}
	if got := after(79*time.Second, pool.Of(12)); got != 80*time.Second {
		t.Errorf("wait %s, want 80 s until it has been in force for so long", got)
	}
	if got := after(80*time.Second, pool.Of(12)); got != 0 {
		t.Errorf("wait %s, want none: what moves it next is put right at once", got)
	}
	if got := after(time.Hour, pool.Of(16)); got != 80*time.Second {
		t.Errorf("wait %s, want 80 s: it is not in force", got)
	}
}

// A clock that was set back by a day does not block a pool for a day.
func TestWritesOfAClockThatWasSetBack(t *testing.T) {
	rules := policy.Rules{Apply: true, Min: 1, Max: 64, MaxFactor: 2, Cooldown: time.Minute, PerHour: 4}
	writes := policy.Writes{}.Next(16, midnight.Add(24*time.Hour)).Spend(4, midnight.Add(24*time.Hour)).From(midnight)
	if got := decided(rules, writes, midnight); got.Code != policy.CoolingDown {
		t.Errorf("%+v, want the cool-down from now on", got)
	}
	if got := decided(rules, writes, midnight.Add(time.Hour)); got.Action != policy.Apply {
		t.Errorf("%+v, want a write an hour later", got)
	}
	if same := writes.From(midnight.Add(time.Hour)); same != writes {
		t.Errorf("%+v, want nothing changed by a clock that goes on", same)
	}
}
