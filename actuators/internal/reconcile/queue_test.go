package reconcile

import (
	"fmt"
	"strings"
	"testing"
)

// report is of target name[0:1]; "a1" is OBSERVED, "A1" is APPLIED, both of target "a".
func report(name string) Report[string] {
	outcome := Observed
	if strings.ToUpper(name) == name {
		outcome = Applied
	}
	return Report[string]{Target: strings.ToLower(name[:1]), Outcome: outcome, Message: name}
}

func TestQueue(t *testing.T) {
	tests := []struct {
		name    string
		limit   int
		pushed  string
		waiting string
		dropped int
	}{
		{"in order", 9, "A1 B1 A2", "A1 B1 A2", 0},
		{"the oldest goes", 2, "A1 A2 A3 A4", "A3 A4", 2},
		{"one OBSERVED a target, the newest", 9, "a1 b1 a2 a3", "b1 a3", 0},
		{"OBSERVED pushes out no other outcome", 2, "A1 a1 A2 a2 b1 c1 d1 a3", "A1 A2 b1 c1 d1 a3", 0},
		{"what was seen before an action is not news", 9, "a1 b1 A1", "A1 b1", 0},
		{"actions first", 9, "b1 A1 a2", "A1 b1 a2", 0},
		{"limit of one", 1, "A1 a1 A2", "A2", 1},
	}
	for _, tt := range tests {
		q := queue[string]{limit: tt.limit}
		dropped := 0
		for _, name := range strings.Fields(tt.pushed) {
			if q.push(report(name)) {
				dropped++
			}
		}
		if got := details(&q); got != tt.waiting || dropped != tt.dropped {
			t.Errorf("%s: %q waits, %d dropped, want %q and %d", tt.name, got, dropped, tt.waiting, tt.dropped)
		}
	}
}

func TestQueueUnpop(t *testing.T) {
	tests := []struct {
		name          string
		popped        string
		meanwhile     string
		waiting       string
		dropped       bool
		limit, before int
	}{
		{name: "back to the front", popped: "A1", meanwhile: "A2", waiting: "A1 A2", limit: 2},
		{name: "full: the oldest goes", popped: "A1", meanwhile: "A2 A3", waiting: "A2 A3", dropped: true, limit: 2},
		{name: "a newer OBSERVED took its place", popped: "a1", meanwhile: "B1 a2", waiting: "B1 a2", limit: 9},
		{name: "an action read a newer size", popped: "a1", meanwhile: "A1", waiting: "A1", limit: 9},
		{name: "an observation goes back", popped: "a1", meanwhile: "B1 b1", waiting: "B1 a1 b1", limit: 1},
	}
	for _, tt := range tests {
		q := queue[string]{limit: tt.limit}
		q.push(report(tt.popped))
		popped, _ := q.pop()
		for _, name := range strings.Fields(tt.meanwhile) {
			q.push(report(name))
		}
		if dropped := q.unpop(popped); details(&q) != tt.waiting || dropped != tt.dropped {
			t.Errorf("%s: %q waits, dropped %t, want %q and %t", tt.name, details(&q), dropped, tt.waiting, tt.dropped)
		}
	}
	if got, ok := (&queue[string]{limit: 1}).pop(); ok {
		t.Errorf("popped %v from an empty queue", got)
	}
}

func details(q *queue[string]) string {
	var all []string
	for _, r := range append(append([]Report[string](nil), q.actions...), q.observations...) {
		all = append(all, r.Message)
	}
	return strings.Trim(fmt.Sprint(all), "[]")
}
