package main

import (
	"context"
	"log/slog"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/membership"
	poolsv1 "sluice.dev/api/pools/v1"
)

// members report the containers of services.
type members []*membership.Reporter

// openMembers makes a reporter for each service of the configuration.
func openMembers(c *config.Config, around *cluster, client poolsv1.PoolSizeServiceClient, log *slog.Logger) (all members) {
	notify := membership.Notifier(notifier(c, client))
	for _, s := range c.Containers {
		all = append(all, membership.NewReporter(s.Service, c.Name, s.Renew, around.Containers(*s.Kubernetes), notify, log))
	}
	return all
}

// run reports until ctx ends. A connection that came back causes a report of all lists.
func (m members) run(ctx context.Context, connection *grpc.ClientConn) {
	var beside sync.WaitGroup
	for _, reporter := range m {
		beside.Go(func() { reporter.Run(ctx) })
	}
	if len(m) > 0 {
		returns(ctx, connection, func() {
			for _, reporter := range m {
				reporter.Returned()
			}
		})
	}
	beside.Wait()
}

// returns calls back whenever the connection is ready again after it was lost or could not be made.
func returns(ctx context.Context, connection *grpc.ClientConn, back func()) {
	lost, was := false, false
	for {
		state := connection.GetState()
		switch state {
		case connectivity.Ready:
			if lost {
				back()
			}
			lost, was = false, true
		case connectivity.TransientFailure:
			lost = true
		default:
			lost = lost || was
		}
		if !connection.WaitForStateChange(ctx, state) {
			return
		}
	}
}

func (m members) stats() []membership.Stats {
	all := make([]membership.Stats, len(m))
	for i, reporter := range m {
		all[i] = reporter.Stats()
	}
	return all
}
