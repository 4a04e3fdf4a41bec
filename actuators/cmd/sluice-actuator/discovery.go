package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools"
)

// lookUpTime bounds a discovery that is not repeated.
const lookUpTime = 10 * time.Second

// maxEndpoints bounds the goroutines of one discovery. targetsAt ignores further instances and reports an error.
const maxEndpoints = 1000

// follow runs every discovery until ctx ends and sends the targets of each.
func follow(ctx context.Context, c *config.Config, cluster *kube.Cluster, log *slog.Logger) chan pools.Change {
	changes := make(chan pools.Change)
	for i := range c.Discover {
		d := &c.Discover[i]
		log := log.With("discover", d.Name)
		go discover.Follow(ctx, d.Source(cluster), d.Interval, func(endpoints []discover.Endpoint) {
			targets, err := targetsAt(d, endpoints)
			if err != nil {
				log.Warn("some instances are not targets", "error", err)
			}
			select {
			case <-ctx.Done():
			case changes <- pools.Change{Group: d.Name, Targets: targets}:
			}
		}, log)
	}
	return changes
}

// lookUpOnce runs every discovery once and returns the targets.
func lookUpOnce(ctx context.Context, c *config.Config, cluster *kube.Cluster) ([]pools.Target, error) {
	var all []pools.Target
	for i := range c.Discover {
		within, cancel := context.WithTimeout(ctx, lookUpTime)
		endpoints, err := c.Discover[i].Source(cluster).Find(within)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("find instances of %s: %w", c.Discover[i].Name, err)
		}
		targets, err := targetsAt(&c.Discover[i], endpoints)
		if err != nil {
			return nil, err
		}
		all = append(all, targets...)
	}
	return all, nil
}

// targetsAt opens a target for each instance. An instance that cannot be a target adds an error; the others are still returned.
func targetsAt(d *config.Discover, endpoints []discover.Endpoint) (targets []pools.Target, err error) {
	if len(endpoints) > maxEndpoints {
		err = fmt.Errorf("%d instances: only the first %d are targets", len(endpoints), maxEndpoints)
		endpoints = endpoints[:maxEndpoints]
	}
	taken := map[string]string{}
	for _, endpoint := range endpoints {
		t, atErr := d.At(endpoint)
		var target pools.Target
		if first, twice := taken[t.Name]; atErr == nil && twice {
			atErr = fmt.Errorf("instance %q exists already at %s", endpoint.Instance, first)
		}
		if atErr == nil {
			atErr = d.Reach(endpoint)
		}
		if atErr == nil {
			target, atErr = open(t)
		}
		if atErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", endpoint.Address, atErr))
			continue
		}
		taken[t.Name] = endpoint.Address
		target.Address, target.Object, target.Workload = endpoint.Identity(), endpoint.Object, endpoint.Workload
		targets = append(targets, target)
	}
	return targets, err
}
