package kube

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
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
			return persist(ctx, f, func() (runtime.Object, error) { return client.List(ctx, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			options(&o)
			return persist(ctx, f, func() (watch.Interface, error) { return client.Watch(ctx, o) })
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
	f.wake()
}

func (f *feed) wake() {
	for _, wake := range f.waiting {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// failed logs an error that differs from the last one. The informer tries again, with growing pauses. The begin of an outage
// wakes as a change does.
func (f *feed) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == "" {
		f.wake()
	}
	if f.fault != err.Error() {
		f.log.Warn("cannot watch the cluster: its last known state counts", "error", err)
	}
	f.fault, f.absent = err.Error(), apierrors.IsNotFound(err)
}

// reached notes that the API server answered. The end of an outage wakes as a change does.
func (f *feed) reached() {
	f.mu.Lock()
	defer f.mu.Unlock()
	over := f.fault != ""
	if f.fault, f.absent = "", false; over {
		f.wake()
	}
}

// current waits as synced does. Its error also tells that the API server cannot be reached, so that the objects may be old.
func (f *feed) current(ctx context.Context) error {
	if err := f.synced(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != "" {
		return errors.New(f.fault)
	}
	return nil
}

// persist makes a call until it does not find the API server refusing connections. The informer's own pauses grow to a minute,
// for which an API server that came back would go unnoticed.
func persist[T any](ctx context.Context, f *feed, call func() (T, error)) (result T, err error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 100*time.Millisecond, 2*time.Second
	for {
		if result, err = call(); err == nil {
			f.reached()
			return result, nil
		}
		if ctx.Err() == nil {
			f.failed(err)
		}
		if !utilnet.IsConnectionRefused(err) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, err
		case <-time.After(pauses.NextBackOff()):
		}
	}
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
