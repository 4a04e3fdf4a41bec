package kube

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// transform reduces an object to the fields that are kept.
type transform func(*unstructured.Unstructured) (any, error)

// feed is an informer over reduced objects. While the API server is away it keeps its last objects.
type feed struct {
	informer cache.SharedIndexInformer

	mu      sync.Mutex
	waiting []chan<- struct{}
	fault   string
	// absent: the API server does not have the resource.
	absent bool
	log    *slog.Logger
}

func newFeed(client dynamic.ResourceInterface, options func(*metav1.ListOptions), keep transform, log *slog.Logger) *feed {
	f := &feed{log: log}
	f.informer = cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			options(&o)
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			options(&o)
			return client.Watch(ctx, o)
		},
	}, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	// None of these fails before the informer runs.
	_ = f.informer.SetTransform(func(object any) (any, error) {
		if u, ok := object.(*unstructured.Unstructured); ok {
			return keep(u)
		}
		return object, nil // already reduced
	})
	_ = f.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { f.failed(err) })
	_, _ = f.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { f.changed() },
		UpdateFunc: func(any, any) { f.changed() },
		DeleteFunc: func(any) { f.changed() },
	})
	return f
}

func (f *feed) run(ctx context.Context) { f.informer.RunWithContext(ctx) }

// notify wakes the channel, which has room for one wake-up, whenever an object is added, changed or deleted.
func (f *feed) notify(wake chan<- struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, wake)
}

func (f *feed) changed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.absent = "", false
	for _, wake := range f.waiting {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// failed logs an error that differs from the last one. The informer tries again, with growing pauses.
func (f *feed) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != err.Error() {
		f.log.Warn("cannot watch the cluster: its last known state counts", "error", err)
	}
	f.fault, f.absent = err.Error(), apierrors.IsNotFound(err)
}

var (
	errNotSynced = errors.New("the API server has not listed its objects yet")
	errAbsent    = errors.New("the API server does not have the resource")
)

// synced waits until the feed has listed all objects once, or the API server said that it has no such resource.
func (f *feed) synced(ctx context.Context) error {
	if !cache.WaitForCacheSync(ctx.Done(), func() bool { return f.informer.HasSynced() || f.isAbsent() }) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.fault != "" {
			return errors.New(f.fault)
		}
		return errNotSynced
	}
	if !f.informer.HasSynced() {
		return errAbsent
	}
	return nil
}

func (f *feed) isAbsent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.absent
}

// last returns the last object of a feed that matches; nil without one.
func last[T any](f *feed, matches func(*T) bool) (match *T) {
	for _, object := range listed[*T](f) {
		if matches(object) {
			match = object
		}
	}
	return match
}

// listed returns the objects of a feed, in no order.
func listed[T any](f *feed) []T {
	objects := f.informer.GetStore().List()
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if typed, ok := object.(T); ok {
			all = append(all, typed)
		}
	}
	return all
}
