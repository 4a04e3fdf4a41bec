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
	targetAnnotation = prefix + "target"
	poolAnnotation   = prefix + "pool"
	// subsetAnnotation is caller and callee; the instance is the caller's.
	subsetAnnotation      = prefix + "subset"
	recommendedAnnotation = prefix + "recommended"
	inForceAnnotation     = prefix + "in-force"
	// appliedAnnotation is the last write: size, previous size, revision, time.
	appliedAnnotation = prefix + "applied"
	// failedAnnotation is the last write that failed or was refused, and why; the next applied write removes it.
	failedAnnotation = prefix + "failed"
)

// Begin implements pools.Recorder.
func (l *Ledger) Begin(t pools.Target) {
	e := l.entry(t.Name)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.annotations = map[string]string{targetAnnotation: t.Name, poolAnnotation: t.Pool.String(), instanceAnnotation: t.Instance}
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
	e.annotations = annotated(e.annotations, p)
}

// RecordSubset is Record for a subset, whose recommended members and members in force it keeps.
func (l *Ledger) RecordSubset(s subsets.Status) {
	if s.Error != "" {
		return
	}
	e := l.entry(subsetEntry(s.Name))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.annotations = map[string]string{
		targetAnnotation: s.Name, subsetAnnotation: s.Upstream + " > " + s.Downstream, instanceAnnotation: s.Instance,
		recommendedAnnotation: s.Wanted, inForceAnnotation: s.Members,
	}
}

// annotated adds the annotations of a pass to `before`.
func annotated(before map[string]string, p pools.Pass) map[string]string {
	annotations := maps.Clone(before)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if p.Answer != nil && p.Answer.Target != nil {
		annotations[recommendedAnnotation] = strconv.FormatUint(uint64(p.Answer.GetTarget()), 10)
	}
	annotations[inForceAnnotation] = p.Current.String()
	report, at := p.Report, p.Report.GetAt().AsTime().UTC().Format("2006-01-02T15:04:05Z")
	if report.ReadBack != nil {
		annotations[inForceAnnotation] = strconv.FormatUint(uint64(report.GetReadBack()), 10)
	}
	switch p.Outcome() {
	case reconcile.Applied:
		annotations[appliedAnnotation] = fmt.Sprintf("%d over %d, revision %d, at %s", report.GetRequested(), report.GetPrevious(), report.GetRevision(), at)
		delete(annotations, failedAnnotation)
	case reconcile.Failed, reconcile.Refused:
		annotations[failedAnnotation] = fmt.Sprintf("%d, revision %d, at %s: %s", report.GetRequested(), report.GetRevision(), at, report.GetDetail())
	}
	return annotations
}
