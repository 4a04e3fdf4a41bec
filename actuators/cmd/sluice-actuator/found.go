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

// findOnceTime bounds a discovery that is not repeated.
const findOnceTime = 10 * time.Second

// maxFound bounds the goroutines of one discovery. at ignores further instances and reports an error.
const maxFound = 1000

// follow runs every discovery until ctx ends and sends the targets of each.
func follow(ctx context.Context, c *config.Config, cluster *kube.Cluster, log *slog.Logger) <-chan pools.Change {
	changes := make(chan pools.Change)
	for i := range c.Discover {
		d := &c.Discover[i]
		log := log.With("discover", d.Name)
		go discover.Follow(ctx, d.Source(cluster), d.Interval, func(found []discover.Found) {
			targets, err := at(d, found)
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

// findOnce runs every discovery once and returns the targets.
func findOnce(ctx context.Context, c *config.Config, cluster *kube.Cluster) ([]pools.Target, error) {
	var all []pools.Target
	for i := range c.Discover {
		asked, cancel := context.WithTimeout(ctx, findOnceTime)
		found, err := c.Discover[i].Source(cluster).Find(asked)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("find instances of %s: %w", c.Discover[i].Name, err)
		}
		targets, err := at(&c.Discover[i], found)
		if err != nil {
			return nil, err
		}
		all = append(all, targets...)
	}
	return all, nil
}

// at opens a target for each instance. An instance that cannot be a target adds an error; the others are still returned.
func at(d *config.Discover, found []discover.Found) (targets []pools.Target, err error) {
	if len(found) > maxFound {
		err = fmt.Errorf("%d instances: only the first %d are targets", len(found), maxFound)
		found = found[:maxFound]
	}
	taken := map[string]string{}
	for _, each := range found {
		t, atErr := d.At(each)
		var target pools.Target
		if first, twice := taken[t.Name]; atErr == nil && twice {
			atErr = fmt.Errorf("instance %q exists already at %s", each.Instance, first)
		}
		if atErr == nil {
			target, atErr = open(t)
		}
		if atErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", each.Address, atErr))
			continue
		}
		taken[t.Name] = each.Address
		target.Address, target.Object = each.Identity(), each.Object
		targets = append(targets, target)
	}
	return targets, err
}
