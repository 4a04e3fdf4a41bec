// Package status shows the actuator's state: /livez, /readyz, /status and /metrics.
package status

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"sluice.dev/actuators/internal/membership"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/scaling"
	"sluice.dev/actuators/internal/subsets"
)

// Board holds the newest pass of each target. It implements pools.Recorder.
type Board struct {
	process Process
	source  func() watch.Snapshot
	reports func() reconcile.Stats
	scaling func() []scaling.Stats

	// Subsets is called for each request; nil where there are none.
	Subsets func() []subsets.Status
	// Containers is called for each request; nil where none are reported.
	Containers func() []membership.Stats
	// Refusals counts the annotations of pods that were refused; nil outside Kubernetes.
	Refusals func() uint64

	// draining is closed at the end of the process; nil before Serve.
	draining <-chan struct{}

	mu      sync.Mutex
	order   []string
	targets map[string]*Target
	metrics *metrics
	// turned is the time of the newest pass over any target.
	turned time.Time
}

// Process is what does not change while the process runs.
type Process struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	StartedAt   time.Time `json:"started_at"`
	Recommender string    `json:"-"`
}

// Target is one target on the status page.
type Target struct {
	Name     string `json:"name"`
	Instance string `json:"instance"`
	Pool     Pool   `json:"pool"`
	Apply    bool   `json:"apply"`
	// Size is the last reading, after a write if there was one; absent before the first reading, and while the pool has no
	// limit.
	Size *uint32 `json:"size,omitempty"`
	// Unbounded: the pool has no limit.
	Unbounded bool `json:"unbounded,omitempty"`
	// Busy is how many threads or connections were in use, and Waiting how many callers waited for one, at the last reading;
	// absent where the target does not report it.
	Busy    *uint32    `json:"busy,omitempty"`
	Waiting *uint32    `json:"waiting,omitempty"`
	ReadAt  *time.Time `json:"read_at,omitempty"`
	// ReadError is set while the target cannot be read.
	ReadError      string          `json:"read_error,omitempty"`
	Decision       *Decision       `json:"decision,omitempty"`
	Recommendation json.RawMessage `json:"recommendation,omitempty"`
	// LastAction is the newest report that was not OBSERVED.
	LastAction json.RawMessage `json:"last_action,omitempty"`
	// Counts are the reports by outcome.
	Counts     map[string]uint64 `json:"counts"`
	ReadErrors uint64            `json:"read_errors"`
}

// Pool names the soft resource as the configuration does.
type Pool struct {
	Service string `json:"service"`
	Side    string `json:"side"`
	Peer    string `json:"peer"`
}

// Decision is a policy.Decision and its time.
type Decision struct {
	Action string    `json:"action"`
	Code   string    `json:"code"`
	Size   uint32    `json:"size,omitempty"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}

// NewBoard returns a Board that shows every target, none of them read yet. source, reports and observed are called for each
// request.
func NewBoard(process Process, targets []pools.Target, source func() watch.Snapshot, reports func() reconcile.Stats,
	observed func() []scaling.Stats) *Board {
	b := &Board{process: process, source: source, reports: reports, scaling: observed, targets: map[string]*Target{}}
	b.metrics = newMetrics(b)
	for _, t := range targets {
		b.Begin(t)
	}
	return b
}

// Begin implements pools.Recorder.
func (b *Board) Begin(t pools.Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.targets[t.Name]; there {
		return
	}
	b.order, b.turned = append(b.order, t.Name), time.Now()
	b.targets[t.Name] = &Target{
		Name: t.Name, Instance: t.Instance, Apply: t.Rules.Apply, Counts: map[string]uint64{},
		Pool: Pool{t.Pool.Service, pool.SideName(t.Pool.Side), t.Pool.Peer},
	}
	b.metrics.begin(t.Name)
}

// End implements pools.Recorder.
func (b *Board) End(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = slices.DeleteFunc(b.order, func(target string) bool { return target == name })
	delete(b.targets, name)
	b.metrics.end(name)
}

// Reload is the outcome of a reading of the configuration file after the start.
type Reload string

// The outcomes. Partly: sections other than targets changed, which count from the next start.
const (
	Taken   Reload = "taken"
	Partly  Reload = "partly"
	Refused Reload = "refused"
)

// Reloaded counts a reading of the configuration file.
func (b *Board) Reloaded(outcome Reload) {
	b.metrics.reloads.WithLabelValues(string(outcome)).Inc()
	b.metrics.refused.Set(0)
	if outcome == Refused {
		b.metrics.refused.Set(1)
	}
}

// Record implements pools.Recorder.
func (b *Board) Record(p pools.Pass) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.targets[p.Target]
	if !ok {
		return
	}
	b.turned = time.Now()
	t.Recommendation = protoJSON(p.Answer)
	b.metrics.record(p)
	if p.ReadErr != nil {
		t.ReadError, t.ReadErrors, t.Decision = p.ReadErr.Error(), t.ReadErrors+1, nil
		t.Busy, t.Waiting = nil, nil
		return
	}
	t.ReadError, t.ReadAt = "", &p.At
	t.Size, t.Unbounded = p.Report.ReadBack, p.Report.GetUnbounded()
	t.Busy, t.Waiting = p.Use.Busy, p.Use.Waiting
	t.Decision = &Decision{string(p.Decision.Action), string(p.Decision.Code), p.Decision.Size, p.Decision.Text, p.At}
	t.Counts[string(p.Outcome())]++
	if p.Outcome() != reconcile.Observed {
		t.LastAction = protoJSON(p.Report)
	}
}

// protoJSON has the names of the proto; nil for a nil message.
func protoJSON(m proto.Message) json.RawMessage {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return text
}
