package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/subsets"
)

const (
	// callTime bounds a call to the API server, for which a target's pass waits.
	callTime = 2 * time.Second
	// pause lies between two attempts that fail, and between two readings of another holder's Lease.
	pause = 5 * time.Second
	// annotateEvery is the least time between two writes of annotations alone.
	annotateEvery = 10 * time.Second
)

// Ledger keeps one Lease for each target and subset in a pod: its holder, and in annotations the recommended and the applied
// size. Kubernetes deletes the Lease with the pod. Ledger implements pools.Owner and pools.Recorder, and has the same methods
// for subsets.
type Ledger struct {
	client dynamic.Interface
	holder string
	lasts  time.Duration
	log    *slog.Logger

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is one target or subset.
type entry struct {
	mu sync.Mutex
	// lease is the Lease as last read or written; it has not changed since `since`.
	lease *unstructured.Unstructured
	since time.Time
	// renewed is the time of this process's last renewal; zero: it does not hold the Lease. wrote is the time of the last
	// write, failed of the last failed one.
	renewed, wrote, failed time.Time
	fault                  error
	annotations, written   map[string]string
}

// Ledger returns the ledger of a process; holder names no other process.
func (c *Cluster) Ledger(holder string) *Ledger {
	return &Ledger{client: c.client, holder: holder, lasts: c.config.Lease, log: c.log, entries: map[string]*entry{}}
}

func (l *Ledger) entry(name string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[name]
	if e == nil {
		e = &entry{}
		l.entries[name] = e
	}
	return e
}

// Claim implements pools.Owner: nil while this process may write the target, for as long as a write takes. It rarely calls the
// API server. While that is away, a claim holds for three quarters of its time.
func (l *Ledger) Claim(ctx context.Context, t pools.Target) error { return l.claim(ctx, ofTarget(t)) }

// ClaimSubset is Claim for a subset.
func (l *Ledger) ClaimSubset(ctx context.Context, t subsets.Target) error {
	return l.claim(ctx, ofSubset(t))
}

func (l *Ledger) claim(ctx context.Context, t claimed) error {
	if t.object.Name == "" || l.lasts == 0 {
		return nil
	}
	e := l.entry(t.name)
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	news := !maps.Equal(e.annotations, e.written) && now.Sub(e.wrote) >= annotateEvery
	due := news || t.apply && now.Sub(e.renewed) >= renewAfter(l.lasts) || !t.apply && !e.renewed.IsZero()
	if due && now.Sub(e.failed) >= pause {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		if e.fault = l.renew(ctx, e, t, now); e.fault != nil {
			e.failed = now
		}
	}
	if !t.apply || now.Sub(e.renewed) < safeFor(l.lasts) {
		return nil
	}
	return e.fault
}

// renew reads the Lease if it is unknown or due, and writes it if this process may.
func (l *Ledger) renew(ctx context.Context, e *entry, t claimed, now time.Time) error {
	of := l.client.Resource(leases).Namespace(t.object.Namespace)
	create := false
	if e.lease == nil || now.Sub(e.renewed) >= safeFor(l.lasts) {
		lease, err := of.Get(ctx, t.lease, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			lease, err, create = newLease(t), nil, true
		}
		if err != nil {
			return fmt.Errorf("read the owner of the target: %w", err)
		}
		if e.lease == nil || claimOf(e.lease) != claimOf(lease) {
			e.since = now
		}
		e.lease = lease
	}
	if has := claimOf(e.lease); !has.free(l.holder, now.Sub(e.since)) {
		e.renewed = time.Time{}
		return errors.New(has.holder + " owns the target")
	}
	next := e.lease.DeepCopy()
	l.fill(next, t, now)
	annotations := next.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, e.annotations)
	next.SetAnnotations(annotations)
	var err error
	if create {
		next, err = of.Create(ctx, next, metav1.CreateOptions{})
	} else {
		next, err = of.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err != nil {
		e.lease = nil // another process may own it now
		return fmt.Errorf("claim the target: %w", err)
	}
	e.lease, e.since, e.wrote, e.written = next, now, now, maps.Clone(e.annotations)
	if e.renewed = now; !t.apply {
		e.renewed = time.Time{}
	}
	return nil
}

// fill sets the holder: this process where the target opted in, else none.
func (l *Ledger) fill(lease *unstructured.Unstructured, t claimed, now time.Time) {
	spec, _, _ := unstructured.NestedMap(lease.Object, "spec")
	if spec == nil {
		spec = map[string]any{}
	}
	at := now.UTC().Format(metav1.RFC3339Micro)
	if !t.apply {
		delete(spec, "holderIdentity")
	} else {
		if spec["holderIdentity"] != l.holder {
			transitions, _ := spec["leaseTransitions"].(int64)
			spec["holderIdentity"], spec["acquireTime"], spec["leaseTransitions"] = l.holder, at, transitions+1
		}
		spec["leaseDurationSeconds"] = int64(l.lasts.Seconds())
	}
	spec["renewTime"] = at
	if t.object.UID != "" { // also replaces an earlier pod of the same name
		lease.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: t.object.Name, UID: types.UID(t.object.UID)}})
	}
	lease.Object["spec"] = spec
}

// Release gives up the Leases of this process, so that a successor need not wait.
func (l *Ledger) Release(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, e := range l.entries {
		e.mu.Lock()
		if !e.renewed.IsZero() {
			next := e.lease.DeepCopy()
			unstructured.RemoveNestedField(next.Object, "spec", "holderIdentity")
			_, err := l.client.Resource(leases).Namespace(next.GetNamespace()).Update(ctx, next, metav1.UpdateOptions{})
			if err != nil {
				l.log.Warn("cannot give up a target: a successor has to wait for the lease", "target", name, "error", err)
			}
			e.renewed = time.Time{}
		}
		e.mu.Unlock()
	}
}

func newLease(t claimed) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"namespace": t.object.Namespace, "name": t.lease},
	}}
}

func claimOf(lease *unstructured.Unstructured) claim {
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	renewed, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	return claim{holder, time.Duration(seconds) * time.Second, renewed}
}
