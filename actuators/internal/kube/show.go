package kube

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/pool"
)

const (
	// showEvery lies between two passes over all objects; an object is written once in a pass at most.
	showEvery = 10 * time.Second
	// maxWrites bounds the writes of a pass, so that Leases and Events have calls left. The rest follows in the next pass.
	maxWrites = 100
)

// SoftResources creates an object for each pool of its targets that has none, and keeps the status of all. The status is a
// function of the recommender's decision wherever one exists, so that the actuators of several nodes write the same. It
// implements pools.Recorder.
type SoftResources struct {
	cluster *Cluster
	source  pools.Source

	mu      sync.Mutex
	targets map[string]*sized

	log   *slog.Logger
	fault string
}

// sized is a target with the last size that was read.
type sized struct {
	pools.Target
	size pool.Size
}

// SoftResources shows the decisions of the source; nil where that is turned off.
func (c *Cluster) SoftResources(source pools.Source) *SoftResources {
	if !c.config.SoftResources {
		return nil
	}
	return &SoftResources{cluster: c, source: source, targets: map[string]*sized{}, log: c.log}
}

// Begin implements pools.Recorder.
func (s *SoftResources) Begin(t pools.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.targets[t.Name] = &sized{Target: t}
}

// End implements pools.Recorder.
func (s *SoftResources) End(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.targets, name)
}

// Record implements pools.Recorder.
func (s *SoftResources) Record(p pools.Pass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.targets[p.Target]; t != nil && p.ReadErr == nil {
		if t.size = p.Current; p.Report.ReadBack != nil {
			t.size = pool.Of(p.Report.GetReadBack())
		}
	}
}

// Run makes a pass every showEvery until ctx ends.
func (s *SoftResources) Run(ctx context.Context) {
	for tick := time.NewTicker(showEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			s.pass(ctx)
		}
	}
}

// pass creates what is missing and writes each status that differs.
func (s *SoftResources) pass(ctx context.Context) {
	here, decisions, writes := s.byPlace(), s.source.Latest(), 0
	for namespace, f := range s.cluster.showing() {
		if !f.informer.HasSynced() {
			continue
		}
		first := overrides{}
		for _, r := range oldestFirst(f) {
			at := r.place()
			targets := here[at]
			if first[at] == nil {
				first[at] = r
			}
			if len(targets) == 0 && s.cluster.config.Node != "" {
				continue // of another node's actuator
			}
			next := statusOf(r, first[at], targets, decisions)
			if equality.Semantic.DeepEqual(next, r.Status) {
				continue
			}
			if writes++; writes > maxWrites || !s.goesOn(s.write(ctx, r, next)) {
				return
			}
		}
		for at, targets := range here {
			if first[at] != nil || namespace != "" && namespace != at.namespace {
				continue
			}
			if writes++; writes > maxWrites || !s.goesOn(s.create(ctx, at, targets[0].Target)) {
				return
			}
		}
	}
}

// showing returns the feeds that do not overlap.
func (c *Cluster) showing() map[string]*feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := c.shown[""]; all != nil {
		return map[string]*feed{"": all}
	}
	return maps.Clone(c.shown)
}

// byPlace groups the targets that are in pods.
func (s *SoftResources) byPlace() map[place][]sized {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[place][]sized{}
	for _, t := range s.targets {
		if t.Workload.Name != "" {
			at := place{t.Object.Namespace, t.Pool}
			all[at] = append(all[at], *t)
		}
	}
	return all
}

// goesOn logs an error that differs from the last one. false: the API server is away, and the pass ends.
func (s *SoftResources) goesOn(err error) bool {
	switch reason := apierrors.ReasonForError(err); reason {
	case metav1.StatusReasonConflict, metav1.StatusReasonAlreadyExists, metav1.StatusReasonNotFound:
		return true // another actuator was first, or somebody deleted the object
	default:
		if err != nil && err.Error() != s.fault {
			s.log.Warn("cannot show a pool in the cluster", "error", err)
			s.fault = err.Error()
		}
		return err == nil || reason != metav1.StatusReasonUnknown
	}
}

// write replaces the status of an object, unless somebody changed the object since.
func (s *SoftResources) write(ctx context.Context, r *SoftResource, status softStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]string{"resourceVersion": r.ResourceVersion}, "status": status})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err = s.cluster.client.Resource(softResources).Namespace(r.Namespace).
		Patch(ctx, r.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// create makes the object of a pool, which Kubernetes deletes with the workload.
func (s *SoftResources) create(ctx context.Context, at place, target pools.Target) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	owner := target.Workload
	if owner.UID == "" {
		workload, err := s.cluster.client.Resource(workloads[owner.Kind]).Namespace(at.namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		owner.UID = string(workload.GetUID())
	}
	key := map[string]any{"service": at.pool.Service, "side": pool.SideName(at.pool.Side)}
	if at.pool.Peer != "" {
		key["peer"] = at.pool.Peer
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "sluice.dev/v1alpha1", "kind": "SoftResource", "spec": map[string]any{"pool": key},
	}}
	object.SetName(softName(at.pool))
	object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "sluice-actuator"})
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: types.UID(owner.UID),
	}})
	_, err := s.cluster.client.Resource(softResources).Namespace(at.namespace).Create(ctx, object, metav1.CreateOptions{})
	return err
}
