package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// slice is an object of the Service cart with the pods cart-N, all ready but those of `ends`, which are terminating.
func slice(name string, ends map[int]bool, numbers ...int) *unstructured.Unstructured {
	var endpoints []any
	for _, n := range numbers {
		endpoints = append(endpoints, fields{
			"addresses": []any{fmt.Sprint("10.0.0.", n+1)}, "nodeName": "n1", "zone": "z1",
			"conditions": fields{"ready": !ends[n], "serving": true, "terminating": ends[n]},
			"targetRef":  fields{"kind": "Pod", "name": fmt.Sprint("cart-", n)},
		})
	}
	return &unstructured.Unstructured{Object: fields{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata":    fields{"namespace": "shop", "name": name, "labels": fields{serviceNameLabel: "cart"}},
		"addressType": "IPv4", "ports": []any{fields{"name": "http", "port": int64(8080)}}, "endpoints": endpoints,
	}}
}

// apiServer is a fake API server with n pods. While down, it refuses connections, and its watches end.
type apiServer struct {
	*fake.FakeDynamicClient
	down    atomic.Bool
	watches chan watch.Interface
}

func serve(t *testing.T, n int, objects ...*unstructured.Unstructured) (*apiServer, *Containers) {
	kinds := map[schema.GroupVersionResource]string{pods: "PodList", endpointSlices: "EndpointSliceList"}
	s := &apiServer{fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds), atomic.Bool{}, make(chan watch.Interface, 100)}
	s.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return s.down.Load(), nil, noListener() })
	s.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		if s.down.Load() {
			return true, nil, noListener()
		}
		w, err := s.Tracker().Watch(action.GetResource(), action.GetNamespace())
		s.watches <- w
		return true, w, err
	})
	for i := range n {
		s.put(t, pods, ready(i, "1"))
	}
	for _, object := range objects {
		s.put(t, endpointSlices, object)
	}
	cluster := New(DefaultConfig(), s, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); cluster.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return s, cluster.Containers(EndpointsConfig{Namespace: "shop", Service: "cart"})
}

func noListener() error { return fmt.Errorf("dial tcp 127.0.0.1:1: connect: %w", syscall.ECONNREFUSED) }

func (s *apiServer) put(t *testing.T, resource schema.GroupVersionResource, object *unstructured.Unstructured) {
	t.Helper()
	in := s.Resource(resource).Namespace("shop")
	_, err := in.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		_, err = in.Update(t.Context(), object, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// eventually reads until the list is `want`; an error counts as its text.
func eventually(t *testing.T, s *Containers, want string) {
	t.Helper()
	deadline, got := time.After(20*time.Second), ""
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		list, err := s.Read(ctx)
		cancel()
		if got = text(list); err != nil {
			got = err.Error()
		}
		if got == want || err != nil && want != "" && strings.Contains(got, want) {
			return
		}
		select {
		case <-s.Changed():
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

func TestTheContainersFollowTheSlices(t *testing.T) {
	server, source := serve(t, 4, slice("cart-x", nil, 0, 1), slice("cart-y", nil, 2))
	eventually(t, source, "cart-0@10.0.0.1:8080, cart-1@10.0.0.2:8080, cart-2@10.0.0.3:8080")
	server.put(t, endpointSlices, slice("cart-x", map[int]bool{0: true}, 0, 1))
	eventually(t, source, "cart-0@10.0.0.1:8080 drained, cart-1@10.0.0.2:8080, cart-2@10.0.0.3:8080")
	server.put(t, endpointSlices, slice("cart-y", nil, 2, 3))
	eventually(t, source, "cart-0@10.0.0.1:8080 drained, cart-1@10.0.0.2:8080, cart-2@10.0.0.3:8080, cart-3@10.0.0.4:8080")
	for _, name := range []string{"cart-x", "cart-y"} {
		if err := server.Resource(endpointSlices).Namespace("shop").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, source, "")
}

// Before both resources were listed there is no list, not a part of one.
func TestThereIsNoListBeforeTheFirstListing(t *testing.T) {
	_, source := serve(t, 1, slice("cart-x", nil, 0))
	cluster := New(DefaultConfig(), fake.NewSimpleDynamicClient(runtime.NewScheme()), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := cluster.Containers(source.config).Read(ctx); !errors.Is(err, errNotSynced) {
		t.Errorf("error %v", err)
	}
}

// While the API server is away the list is unknown, neither empty nor a part; then it is known again without a change.
func TestABrokenWatchEmptiesNoList(t *testing.T) {
	server, source := serve(t, 2, slice("cart-x", nil, 0, 1))
	all := "cart-0@10.0.0.1:8080, cart-1@10.0.0.2:8080"
	eventually(t, source, all)
	for len(source.wake) > 0 {
		<-source.wake
	}
	server.down.Store(true)
	for range 2 { // of pods and slices
		(<-server.watches).Stop()
	}
	select {
	case <-source.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("the begin of the outage wakes nobody")
	}
	eventually(t, source, "connection refused")
	for len(source.wake) > 0 {
		<-source.wake
	}
	server.down.Store(false)
	select {
	case <-source.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("the end of the outage wakes nobody")
	}
	eventually(t, source, all)
}
