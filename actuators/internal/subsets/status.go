package subsets

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/reconcile"
)

// Status is one target on the status page.
type Status struct {
	Name       string `json:"name"`
	Upstream   string `json:"upstream"`
	Instance   string `json:"instance"`
	Downstream string `json:"downstream"`
	Apply      bool   `json:"apply"`
	// At is the time of the last pass.
	At time.Time `json:"at"`
	// Members are the set in force, and Wanted the recommended one: "10.0.0.1:80 2, 10.0.0.2:80 1".
	Members string `json:"members,omitempty"`
	Wanted  string `json:"wanted,omitempty"`
	Code    string `json:"code,omitempty"`
	Text    string `json:"text,omitempty"`
	// Without names the endpoints of the recommender's subset that are left out, and why.
	Without string `json:"without,omitempty"`
	// State and Revision are those of the recommender's subset.
	State    string `json:"state,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
	Error    string `json:"error,omitempty"`
	// Counts are the writes that were APPLIED or FAILED, and the recommended subsets that were REFUSED.
	Counts map[reconcile.Outcome]uint64 `json:"counts"`
}

// show stores the newest status of a target, and passes it to Show.
func (w *worker) show(p *pass, s Status) {
	p.status = w.fill(p, s)
	if w.Show != nil {
		w.Show(p.status)
	}
}

func (w *worker) fill(p *pass, s Status) Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Name, s.Apply, s.At = w.Name, w.Rules.Apply, p.at
	s.Upstream, s.Instance, s.Downstream = w.Key.GetUpstream(), w.Key.GetInstance(), w.Key.GetDownstream()
	if p.answer != nil {
		s.State, s.Revision = strings.TrimPrefix(p.answer.GetState().String(), "STATE_"), p.answer.GetRevision()
	}
	if w.shown == nil {
		w.shown = map[string]Status{}
	}
	s.Counts = maps.Clone(w.counts)
	w.shown[w.Name] = s
	return s
}

// Shown returns the newest status of all targets, by name.
func (l *Loop) Shown() []Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Collect(maps.Values(l.shown))
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all
}
