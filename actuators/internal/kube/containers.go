package kube

import (
	"context"

	"sluice.dev/actuators/internal/membership"
)

// Containers follows the EndpointSlices of one Service and the pods of its namespace. It implements membership.Source.
type Containers struct {
	config EndpointsConfig
	slices *feed
	pods   *feed
	wake   chan struct{}
}

// Containers watches the Service of the configuration.
func (c *Cluster) Containers(config EndpointsConfig) *Containers {
	s := &Containers{
		config: config, wake: make(chan struct{}, 1),
		slices: c.feed(endpointSlices, config.Namespace, serviceNameLabel+"="+config.Service, "", toSlice),
		pods:   c.feed(pods, config.Namespace, "", "", toPod),
	}
	s.slices.notify(s.wake)
	s.pods.notify(s.wake)
	return s
}

// Changed implements membership.Source.
func (s *Containers) Changed() <-chan struct{} { return s.wake }

// Read implements membership.Source. Error: a resource was not listed yet, or its watch is broken.
func (s *Containers) Read(ctx context.Context) (membership.List, error) {
	for _, f := range []*feed{s.slices, s.pods} {
		if err := f.current(ctx); err != nil {
			return membership.List{}, err
		}
	}
	byName := map[string]*Pod{}
	for _, pod := range listed[*Pod](s.pods) {
		byName[pod.Name] = pod
	}
	return merge(listed[*EndpointSlice](s.slices), byName, s.config), nil
}
