package xds

import (
	"math"
	"net"
	"net/netip"
	"strconv"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// endpoint is an endpoint that a client gets.
type endpoint struct {
	instance, host, zone string
	port                 uint32
	weight               uint32
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
// client of a service with containers always gets some: without a usable endpoint in a subset it gets all containers with
// equal weights, and drained ones if there are no others. A container has its newest known address, since a restarted one may
// have another. report gets each endpoint that is left out. Empty: no container has an address.
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
	if endpoints := usable(reachable, report); len(endpoints) > 0 {
		return endpoints
	}
	if endpoints := usable(allContainers(service, false), report); len(endpoints) > 0 {
		return endpoints
	}
	return usable(allContainers(service, true), report)
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

// usable are the endpoints that a client can take: each with an address of its own, and weights of 1 or more whose sum a
// client can hold.
func usable(candidates []*subsetsv1.Endpoint, report func(string, fault)) (endpoints []endpoint) {
	addresses, names := map[string]bool{}, map[string]bool{}
	sum := uint64(0)
	for _, candidate := range candidates {
		host, port, ok := address(candidate.GetAddress())
		switch {
		case !ok:
			report(candidate.GetInstance(), noAddress)
			continue
		case addresses[candidate.GetAddress()]:
			report(candidate.GetInstance(), sameAddress)
			continue
		case names[candidate.GetInstance()]:
			report(candidate.GetInstance(), sameName)
			continue
		}
		addresses[candidate.GetAddress()], names[candidate.GetInstance()] = true, true
		weight := max(1, candidate.GetWeight())
		sum += uint64(weight)
		endpoints = append(endpoints, endpoint{candidate.GetInstance(), host, candidate.GetZone(), port, weight})
	}
	for shift := 0; sum>>shift > math.MaxUint32/2; shift++ {
		for i := range endpoints {
			endpoints[i].weight = max(1, endpoints[i].weight/2)
		}
	}
	return endpoints
}

// address splits a text into IP and port, as xDS has them. Endpoints of xDS are not host names: Envoy and C-core refuse them.
func address(text string) (host string, port uint32, ok bool) {
	host, name, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, false
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return "", 0, false
	}
	n, err := strconv.ParseUint(name, 10, 16)
	return host, uint32(n), err == nil && n > 0
}
