package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The resources that are read and written, by group, version and resource.
var (
	pods           = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	namespaces     = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	events         = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	leases         = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	endpointSlices = schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
	softResources  = schema.GroupVersionResource{Group: "sluice.dev", Version: "v1alpha1", Resource: "softresources"}
	autoscalers    = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	verticals      = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

	workloads = map[string]schema.GroupVersionResource{
		"Deployment":  {Group: "apps", Version: "v1", Resource: "deployments"},
		"StatefulSet": {Group: "apps", Version: "v1", Resource: "statefulsets"},
	}
)

// Limits of calls a second to the API server, beside watches. Leases and Events of many targets share them.
const (
	callsPerSecond = 50
	burst          = 100
)

// Cluster is one API server. It watches each resource once, however many parts need it.
type Cluster struct {
	config Config
	client dynamic.Interface
	log    *slog.Logger

	mu    sync.Mutex
	feeds map[string]*feed
	// shown are the feeds of softresources, by namespace; "" is all of them.
	shown map[string]*feed
	// events is nil where none are made. refusals counts refused annotations.
	events   *EventRecorder
	refusals atomic.Uint64
	// ctx is Run's; feeds that are added later start at once.
	ctx context.Context
	all sync.WaitGroup
}

// Open makes a client of the configured API server; the server need not answer yet.
func Open(config Config, log *slog.Logger) (*Cluster, error) {
	var server *rest.Config
	var err error
	if config.Kubeconfig != "" {
		server, err = clientcmd.BuildConfigFromFlags("", config.Kubeconfig)
	} else {
		server, err = rest.InClusterConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	server.UserAgent = "sluice-actuator"
	server.QPS, server.Burst = callsPerSecond, burst
	client, err := dynamic.NewForConfig(server)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	return New(config, client, log), nil
}

// New makes a Cluster of a given client.
func New(config Config, client dynamic.Interface, log *slog.Logger) *Cluster {
	return &Cluster{config: config, client: client, log: log, feeds: map[string]*feed{}, shown: map[string]*feed{}}
}

// Run watches all feeds, also those that are added later, until ctx ends.
func (c *Cluster) Run(ctx context.Context) {
	c.mu.Lock()
	c.ctx = ctx
	for _, f := range c.feeds {
		c.all.Go(func() { f.run(ctx) })
	}
	c.mu.Unlock()
	<-ctx.Done()
	c.all.Wait()
}

// feed watches the objects of one resource in one namespace (all, when empty) that labels and fields select.
func (c *Cluster) feed(resource schema.GroupVersionResource, namespace, labels, fields string, keep transform) *feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(resource, namespace, labels, fields)
	f, there := c.feeds[key]
	if !there {
		options := func(o *metav1.ListOptions) { o.LabelSelector, o.FieldSelector = labels, fields }
		f = newFeed(c.client.Resource(resource).Namespace(namespace), options, keep, c.log.With("resource", resource.Resource))
		c.feeds[key] = f
		if c.ctx != nil {
			c.all.Go(func() { f.run(c.ctx) })
		}
	}
	return f
}
