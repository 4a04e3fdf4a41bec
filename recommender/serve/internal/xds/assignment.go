package xds

import (
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// endpoint is an endpoint that a client gets. notReady: its source says so, and another endpoint is ready.
type endpoint struct {
	instance, host, zone string
	port                 uint32
	weight               uint32
	notReady             bool
}

// fault is the reason why an endpoint of a subset is left out.
type fault string

const (
	noAddress   fault = "no address of the form IP:PORT"
	sameAddress fault = "the address of another"
	sameName    fault = "named twice"
	unknown     fault = "no container of the service"
	drained     fault = "drained"
)

// assign returns the endpoints that a client gets: its subset, without endpoints that clients would refuse or cannot reach. A
// client of a service with containers always gets some: without a usable endpoint that is ready in a subset it gets all
// containers with equal weights, without one of those its subset as if it were ready, and drained containers if there are no
// others. A container has its newest known address, since a restarted one may have another. report gets each endpoint that is
// left out. Empty: no container has an address.
//
// A drained container is left out, and not sent as DRAINING. In both cases clients finish open requests and send no new ones.
// But an Envoy in panic sends new requests to DRAINING endpoints too (envoyproxy/envoy#46800).
func assign(subset *subsetsv1.Subset, service *subsetsv1.ServiceContainers, report func(instance string, why fault)) []endpoint {
	containers := map[string]*subsetsv1.Container{}
	for _, candidate := range service.GetContainers() {
		containers[candidate.GetInstance()] = candidate
	}
	var reachable []*subsetsv1.Endpoint
	for _, candidate := range subset.GetEndpoints() {
		container := containers[candidate.GetInstance()]
		switch {
		case len(containers) > 0 && container == nil:
			report(candidate.GetInstance(), unknown)
		case container.GetDrained():
			report(candidate.GetInstance(), drained)
		default:
			reachable = append(reachable, withAddress(candidate, container))
		}
	}
	members := usable(reachable, report)
	if marked, ready := withReadiness(members, containers); ready > 0 {
		return marked
	}
	all := usable(allContainers(service, false), report)
	if marked, ready := withReadiness(all, containers); ready > 0 {
		return marked
	}
	for _, endpoints := range [][]endpoint{members, all} {
		if len(endpoints) > 0 {
			return endpoints
		}
	}
	return usable(allContainers(service, true), report)
}

// withReadiness is a copy of endpoints with notReady, and the number of those that are ready.
func withReadiness(endpoints []endpoint, containers map[string]*subsetsv1.Container) (marked []endpoint, ready int) {
	for _, target := range endpoints {
		target.notReady = containers[target.instance].GetNotReady()
		if !target.notReady {
			ready++
		}
		marked = append(marked, target)
	}
	return marked, ready
}

// withAddress is an endpoint with its container's address, if that is known.
func withAddress(candidate *subsetsv1.Endpoint, container *subsetsv1.Container) *subsetsv1.Endpoint {
	if container.GetAddress() == "" || container.GetAddress() == candidate.GetAddress() {
		return candidate
	}
	return &subsetsv1.Endpoint{
		Instance: candidate.GetInstance(), Address: container.GetAddress(), Zone: container.GetZone(), Weight: candidate.GetWeight(),
	}
}

func allContainers(service *subsetsv1.ServiceContainers, drained bool) (endpoints []*subsetsv1.Endpoint) {
	for _, container := range service.GetContainers() {
		if drained || !container.GetDrained() {
			endpoints = append(endpoints, &subsetsv1.Endpoint{
				Instance: container.GetInstance(), Address: container.GetAddress(), Zone: container.GetZone(), Weight: 1,
			})
		}
	}
	return endpoints
}
