package kube

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
)

// The fake API server lists; it does not stream its objects as the first part of a watch.
func init() { os.Setenv("KUBE_FEATURE_WatchListClient", "false") }

type fields = map[string]any

func limited(cores string) []any {
	return []any{fields{"name": "app", "resources": fields{"limits": fields{"cpu": cores}}}}
}

// workload is shop/cart of a kind. generation is that of its spec, which `updated` pods have.
func workload(kind string, replicas, generation, updated int64, cores string, more fields) *unstructured.Unstructured {
	spec := fields{
		"replicas": replicas, "selector": fields{"matchLabels": fields{"app": "cart"}},
		"template": fields{"spec": fields{"containers": limited(cores)}},
	}
	for key, value := range more {
		spec[key] = value
	}
	return &unstructured.Unstructured{Object: fields{
		"apiVersion": "apps/v1", "kind": kind, "metadata": fields{"namespace": "shop", "name": "cart", "generation": generation},
		"spec": spec, "status": fields{"observedGeneration": int64(1), "updatedReplicas": updated},
	}}
}

func ready(n int, cores string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: fields{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": fields{"namespace": "shop", "name": fmt.Sprint("cart-", n), "labels": fields{"app": "cart"}},
		"spec":     fields{"containers": limited(cores)},
		"status": fields{
			"phase": "Running", "podIP": fmt.Sprint("10.0.0.", n+1), "containerStatuses": limited(cores),
			"conditions": []any{fields{"type": "Ready", "status": "True"}},
		},
	}}
}

// shop is an API server with cart and n of its pods, and the watchers of them.
type shop struct {
	t      *testing.T
	client *fake.FakeDynamicClient
	kind   string
	source *Scaled
}

func open(t *testing.T, first *unstructured.Unstructured, n int) *shop {
	kinds := map[schema.GroupVersionResource]string{
		pods: "PodList", autoscalers: "HorizontalPodAutoscalerList", verticals: "VerticalPodAutoscalerList",
		workloads["Deployment"]: "DeploymentList", workloads["StatefulSet"]: "StatefulSetList",
	}
	s := &shop{t: t, kind: first.GetKind(), client: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)}
	s.create(workloads[s.kind], first)
	for i := range n {
		s.create(pods, ready(i, "2"))
	}
	cluster := New(DefaultConfig(), s.client, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); cluster.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.source = cluster.Workload(WorkloadConfig{Namespace: "shop", Kind: s.kind, Name: "cart"})
	return s
}

func (s *shop) create(of schema.GroupVersionResource, o *unstructured.Unstructured) {
	s.t.Helper()
	if _, err := s.client.Resource(of).Namespace("shop").Create(s.t.Context(), o, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) update(of schema.GroupVersionResource, o *unstructured.Unstructured) {
	s.t.Helper()
	if _, err := s.client.Resource(of).Namespace("shop").Update(s.t.Context(), o, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// tells waits until the source has so many replicas and cores; it reads the source at each signal of a change.
func (s *shop) reads(what, want string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	got := ""
	for {
		reading, err := s.source.Read(ctx)
		if err == nil && reading.Replicas != nil {
			if got = fmt.Sprintf("%d of %g", *reading.Replicas, reading.CPULimitCores); got == want {
				return
			}
		}
		select {
		case <-s.source.Changed():
		case <-ctx.Done():
			s.t.Fatalf("%s: told %q (%v), want %q", what, got, err, want)
		}
	}
}

// A StatefulSet is reported like a Deployment: a smaller value at once, a larger one once it is there.
func TestBothKindsOfWorkloadsAreReported(t *testing.T) {
	for kind := range workloads {
		t.Run(kind, func(t *testing.T) {
			s := open(t, workload(kind, 3, 1, 3, "2", nil), 3)
			s.reads("as it is", "3 of 2")
			s.update(workloads[kind], workload(kind, 4, 1, 4, "2", nil))
			s.create(pods, ready(3, "2"))
			s.reads("one more, once it is ready", "4 of 2")
			s.update(workloads[kind], workload(kind, 2, 1, 2, "2", nil))
			s.reads("fewer, before a pod ends", "2 of 2")
			for _, gone := range []string{"cart-2", "cart-3"} {
				if err := s.client.Resource(pods).Namespace("shop").Delete(t.Context(), gone, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.update(workloads[kind], workload(kind, 2, 2, 0, "1", nil)) // a rollout that nobody has looked at yet
			s.reads("less, before a pod is replaced", "2 of 1")
			s.update(pods, ready(0, "1"))
			s.update(pods, ready(1, "1"))
			s.update(workloads[kind], workload(kind, 2, 1, 2, "4", nil))
			s.update(pods, ready(1, "4"))
			s.reads("the least of pods that differ", "2 of 1")
			s.update(pods, ready(0, "4"))
			s.reads("more, once every pod has it", "2 of 4")
		})
	}
}

// A StatefulSet whose pods are replaced by hand announces nothing: its limit is that of its pods.
func TestAStatefulSetThatIsUpdatedByHand(t *testing.T) {
	byHand := fields{"updateStrategy": fields{"type": "OnDelete"}}
	s := open(t, workload("StatefulSet", 2, 1, 2, "2", byHand), 2)
	s.reads("as it is", "2 of 2")
	s.update(workloads["StatefulSet"], workload("StatefulSet", 1, 2, 0, "1", byHand))
	s.reads("fewer at once, and the limit of the pods", "1 of 2")
	s.update(pods, ready(0, "1"))
	s.reads("less, with the pod", "1 of 1")
}
