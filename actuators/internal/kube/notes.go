package kube

import (
	"fmt"
	"maps"
	"strconv"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/reconcile"
	"sluice.dev/actuators/internal/subsets"
)

// Annotations of a target's Lease.
const (
	targetNote   = prefix + "target"
	poolNote     = prefix + "pool"
	instanceNote = prefix + "instance"
	// subsetNote is caller and callee; the instance is the caller's.
	subsetNote      = prefix + "subset"
	recommendedNote = prefix + "recommended"
	inForceNote     = prefix + "in-force"
	// appliedNote is the last write: size, previous size, revision, time.
	appliedNote = prefix + "applied"
	// failedNote is the last write that failed or was refused, and why; the next applied write removes it.
	failedNote = prefix + "failed"
)

// Begin implements pools.Recorder.
func (l *Ledger) Begin(t pools.Target) {
	e := l.entry(t.Name)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = map[string]string{targetNote: t.Name, poolNote: t.Pool.String(), instanceNote: t.Instance}
}

// End implements pools.Recorder. The Lease is deleted with its pod; until then another process may wait for it.
func (l *Ledger) End(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.entries, name)
}

// Record implements pools.Recorder. The next claim writes the annotations.
func (l *Ledger) Record(p pools.Pass) {
	if p.ReadErr != nil {
		return
	}
	e := l.entry(p.Target)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = noted(e.notes, p)
}

// RecordSubset is Record for a subset: its members are what is recommended and in force.
func (l *Ledger) RecordSubset(s subsets.Status) {
	if s.Error != "" {
		return
	}
	e := l.entry(subsetEntry(s.Name))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = map[string]string{
		targetNote: s.Name, subsetNote: s.Upstream + " > " + s.Downstream, instanceNote: s.Instance,
		recommendedNote: s.Wanted, inForceNote: s.Members,
	}
}

// noted adds the notes of a pass to `before`.
func noted(before map[string]string, p pools.Pass) map[string]string {
	notes := maps.Clone(before)
	if notes == nil {
		notes = map[string]string{}
	}
	if p.Answer != nil && p.Answer.Target != nil {
		notes[recommendedNote] = strconv.FormatUint(uint64(p.Answer.GetTarget()), 10)
	}
	notes[inForceNote] = p.Current.String()
	report, at := p.Report, p.Report.GetAt().AsTime().UTC().Format("2006-01-02T15:04:05Z")
	if report.ReadBack != nil {
		notes[inForceNote] = strconv.FormatUint(uint64(report.GetReadBack()), 10)
	}
	switch p.Outcome() {
	case reconcile.Applied:
		notes[appliedNote] = fmt.Sprintf("%d over %d, revision %d, at %s", report.GetRequested(), report.GetPrevious(), report.GetRevision(), at)
		delete(notes, failedNote)
	case reconcile.Failed, reconcile.Refused:
		notes[failedNote] = fmt.Sprintf("%d, revision %d, at %s: %s", report.GetRequested(), report.GetRevision(), at, report.GetDetail())
	}
	return notes
}
