package main

import (
	"context"
	"log/slog"
	"os"

	"k8s.io/klog/v2"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/scaling"
	commonv1 "sluice.dev/api/common/v1"
)

// cluster is the environment of this process: the Kubernetes cluster, if the configuration has one, and the names under which
// the process owns targets.
type cluster struct {
	*kube.Cluster
	ledger *kube.Ledger
	events *kube.EventRecorder
	// soft shows pools as objects; nil where that is turned off.
	soft *kube.SoftResources
	// beside is the pod of the targets and subsets of the file.
	beside discover.Object
	// holder names this process where several processes can own the same target or place: its name and its host. identity
	// names its configuration among all reporters. Two processes on one host may have the same name, but not the same status
	// address.
	holder, identity string
}

// openCluster starts the watches; callers add objects to watch later. They end with ctx.
func openCluster(ctx context.Context, c *config.Config, log *slog.Logger) (*cluster, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	holder := c.Name + "@" + host
	identity := holder + " " + c.StatusAddress
	if c.Kubernetes == nil {
		return &cluster{holder: holder, identity: identity}, nil
	}
	klog.SetSlogLogger(log.With("from", "kubernetes"))
	open, err := kube.Open(*c.Kubernetes, log)
	if err != nil {
		return nil, err
	}
	around := &cluster{Cluster: open, ledger: open.Ledger(holder), beside: discover.Object(c.Kubernetes.Pod), holder: holder, identity: identity}
	if c.Kubernetes.Events {
		around.events = open.EventRecorder(ctx, c.Name)
	}
	go open.Run(ctx)
	return around, nil
}

// show opens the objects of pools, with the decisions of source. It comes before recorder.
func (c *cluster) show(source pools.Source) {
	if c.Cluster != nil {
		c.soft = c.SoftResources(source)
	}
}

// place sets the pod of the targets in the configuration file.
func (c *cluster) place(targets []pools.Target) {
	for i := range targets {
		targets[i].Object = c.beside
	}
}

// owner returns the check that another actuator owns a target; nil where there are no Leases.
func (c *cluster) owner(of *config.Config) pools.Owner {
	if c.ledger == nil || of.Kubernetes.Lease == 0 {
		return nil
	}
	return c.ledger
}

// own sets the caller's pod of the subsets in the configuration file, and the check of their owner.
func (c *cluster) own(all *callers) {
	for i := range all.targets {
		all.targets[i].Object = c.beside
	}
	all.loop.Holder = c.holder
	if c.ledger != nil {
		all.loop.Owner, all.loop.Show = c.ledger.ClaimSubset, c.ledger.RecordSubset
	}
}

// release gives up the Leases of this process.
func (c *cluster) release(ctx context.Context) {
	if c.ledger != nil {
		c.ledger.Release(ctx)
	}
}

// recorder returns a recorder that also writes passes to the cluster.
func (c *cluster) recorder(board pools.Recorder) pools.Recorder {
	all := recorders{board}
	if c.ledger != nil {
		all = append(all, c.ledger)
	}
	if c.events != nil {
		all = append(all, c.events)
	}
	if c.soft != nil {
		all = append(all, c.soft)
	}
	return all
}

// withEvents wraps notify: it makes an Event of each change of a workload that the recommender took.
func (c *cluster) withEvents(from scaling.Source, notify scaling.Notifier) scaling.Notifier {
	workload, ok := from.(*kube.Scaled)
	if !ok || c.events == nil {
		return notify
	}
	return func(ctx context.Context, event *commonv1.ScalingEvent) (uint32, error) {
		pools, err := notify(ctx, event)
		if err == nil {
			c.events.Scaled(workload, event, scaling.Words(event))
		}
		return pools, err
	}
}

// recorders pass every call on to all of their members.
type recorders []pools.Recorder

func (r recorders) Record(p pools.Pass) {
	for _, recorder := range r {
		recorder.Record(p)
	}
}

func (r recorders) Begin(t pools.Target) {
	for _, recorder := range r {
		recorder.Begin(t)
	}
}

func (r recorders) End(name string) {
	for _, recorder := range r {
		recorder.End(name)
	}
}
