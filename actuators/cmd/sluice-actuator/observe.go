package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/scaling"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// observe makes an observer for each scaling source. To add a kind of source, extend source below.
func observe(c *config.Config, around *cluster, client poolsv1.PoolSizeServiceClient, log *slog.Logger) ([]*scaling.Observer, error) {
	notify := notifier(c, client)
	observers := make([]*scaling.Observer, len(c.Scaling))
	for i, s := range c.Scaling {
		from, err := source(s, around)
		if err != nil {
			return nil, fmt.Errorf("open the source of scaling of %s: %w", s.Service, err)
		}
		observers[i] = scaling.NewObserver(s.Service, c.Name, interval(s, c), from, around.withEvents(from, notify), log)
	}
	return observers, nil
}

// notifier returns the call that takes events to the recommender.
func notifier(c *config.Config, client poolsv1.PoolSizeServiceClient) scaling.Notifier {
	return func(ctx context.Context, event *commonv1.ScalingEvent) (uint32, error) {
		ctx, cancel := context.WithTimeout(ctx, c.Recommender.Timeout)
		defer cancel()
		response, err := client.NotifyScaling(ctx, &poolsv1.NotifyScalingRequest{ScalingEvent: event})
		return response.GetPools(), err
	}
}

// ofFiles is the reading interval of files. It brings an autoscaler's change to the recommender within a second.
const ofFiles = 500 * time.Millisecond

func interval(s config.Scaling, c *config.Config) time.Duration {
	switch {
	case s.Interval > 0:
		return s.Interval
	case s.File != nil || s.Cgroup != nil:
		return min(ofFiles, c.Recommender.Interval)
	default:
		return c.Recommender.Interval
	}
}

// source opens the kind of source that the configuration has.
func source(s config.Scaling, around *cluster) (scaling.Source, error) {
	switch {
	case s.File != nil:
		return scaling.File{Config: *s.File}, nil
	case s.Cgroup != nil:
		return scaling.Cgroup{Config: *s.Cgroup, HostCores: runtime.NumCPU()}, nil
	case s.Kubernetes != nil:
		return around.Workload(*s.Kubernetes), nil
	default:
		return scaling.NewHTTP(*s.HTTP)
	}
}

func scalingStats(observers []*scaling.Observer) func() []scaling.Stats {
	return func() []scaling.Stats {
		all := make([]scaling.Stats, len(observers))
		for i, o := range observers {
			all[i] = o.Stats()
		}
		return all
	}
}
