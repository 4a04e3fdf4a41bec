// Package membership notifies the recommender of the containers of services, so that subsets follow a rollout before spans
// show it. It knows no product, and no cluster.
package membership

import (
	"context"
	"slices"

	commonv1 "sluice.dev/api/common/v1"
)

// Container is a container of a service; empty texts are unknown.
type Container struct {
	// Instance is its name in spans.
	Instance string `json:"instance"`
	// Address is HOST:PORT for callers.
	Address string `json:"address,omitempty"`
	// Host is the name of its host in metrics.
	Host string `json:"host,omitempty"`
	Zone string `json:"zone,omitempty"`
	// Drained: callers have to leave it; it still answers.
	Drained bool `json:"drained,omitempty"`
}

// List has all containers of a service, ordered by instance. Empty: the source knows that there are none.
type List struct {
	Containers []Container
	// Faults are lines for people about endpoints that are left out, or lack a field.
	Faults []string
}

// Source knows the containers of one service.
type Source interface {
	// Read returns the present list. Error: the source does not know it at present, such as before its first answer, or while a
	// watch is broken. A list is never a part.
	Read(ctx context.Context) (List, error)
	// Changed has a value after a change, and after an error is over.
	Changed() <-chan struct{}
}

// event is the notification of a list. It has no time: the server's counts, so that a clock that was set back makes no list
// older than the one before.
func event(service, actuator string, containers []Container) *commonv1.ScalingEvent {
	e := &commonv1.ScalingEvent{Service: service, Source: actuator}
	for _, c := range containers {
		e.Containers = append(e.Containers, &commonv1.ServiceContainer{
			Instance: c.Instance, Address: c.Address, Host: c.Host, Zone: c.Zone, Drained: c.Drained,
		})
	}
	return e
}

func same(a, b []Container) bool { return slices.Equal(a, b) }
