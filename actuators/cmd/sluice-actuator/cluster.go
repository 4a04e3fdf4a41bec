package main

import (
	"context"
	"log/slog"
	"os"

	"k8s.io/klog/v2"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/scaling"
	commonv1 "sluice.dev/api/common/v1"
)

// cluster is what is around this process: the Kubernetes cluster, if the configuration has one, and who else writes targets.
type cluster struct {
	*kube.Cluster
	ledger *kube.Ledger
	teller *kube.Teller
	// beside is the pod of the targets and subsets of the file.
	beside discover.Object
	// holder is this process where one of several has something: its name, and the host's. identity is its configuration among
	// all that report targets: two on one host may have the same name, and cannot have the same address.
	holder, identity string
}

// openCluster begins to watch; what it watches is asked for later. ctx ends it.
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
		around.teller = open.Teller(ctx, c.Name)
	}
	go open.Run(ctx)
	return around, nil
}

// place says of the targets of the file which pod they are in.
func (c *cluster) place(targets []loop.Target) {
	for i := range targets {
		targets[i].Object = c.beside
	}
}

// owner says that somebody else has a target; nil where there are no Leases.
func (c *cluster) owner(of *config.Config) loop.Owner {
	if c.ledger == nil || of.Kubernetes.Lease == 0 {
		return nil
	}
	return c.ledger
}

// own says of the subsets of the file which pod their caller is in, and who else may have them.
func (c *cluster) own(all *callers) {
	for i := range all.targets {
		all.targets[i].Object = c.beside
	}
	all.loop.Holder = c.holder
	if c.ledger != nil {
		all.loop.Owner, all.loop.Show = c.ledger.ClaimSubset, c.ledger.RecordSubset
	}
}

// release gives up what this process has.
func (c *cluster) release(ctx context.Context) {
	if c.ledger != nil {
		c.ledger.Release(ctx)
	}
}

// recorder shows passes to the cluster, too.
func (c *cluster) recorder(board loop.Recorder) loop.Recorder {
	all := recorders{board}
	if c.ledger != nil {
		all = append(all, c.ledger)
	}
	if c.teller != nil {
		all = append(all, c.teller)
	}
	return all
}

// told makes an Event of what the recommender took of a workload.
func (c *cluster) told(from scaling.Source, notify scaling.Notifier) scaling.Notifier {
	workload, ok := from.(*kube.Scaled)
	if !ok || c.teller == nil {
		return notify
	}
	return func(ctx context.Context, event *commonv1.ScalingEvent) (uint32, error) {
		pools, err := notify(ctx, event)
		if err == nil {
			c.teller.Scaled(workload, event, scaling.Words(event))
		}
		return pools, err
	}
}

// recorders show a pass to each.
type recorders []loop.Recorder

func (r recorders) Record(p loop.Pass) {
	for _, each := range r {
		each.Record(p)
	}
}

func (r recorders) Begin(t loop.Target) {
	for _, each := range r {
		each.Begin(t)
	}
}

func (r recorders) End(name string) {
	for _, each := range r {
		each.End(name)
	}
}
