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

// assign is the list of endpoints that a client gets: its subset, without endpoints that clients would refuse or that cannot
// be reached. A client of a service with containers always gets some: without a subset, or where nothing of it is usable, it
// gets all of them with equal weights, and drained ones where there are no others. A container has its newest known address:
// one that comes back under its name may have another. Empty: none has an address.
func assign(subset *subsetsv1.Subset, all *subsetsv1.ServiceContainers, told func(instance string, why fault)) []endpoint {
	known := map[string]*subsetsv1.Container{}
	for _, each := range all.GetContainers() {
		known[each.GetInstance()] = each
	}
	var given []*subsetsv1.Endpoint
	for _, each := range subset.GetEndpoints() {
		container := known[each.GetInstance()]
		switch {
		case len(known) > 0 && container == nil:
			told(each.GetInstance(), unknown)
		case container.GetDrained():
			told(each.GetInstance(), drained)
		default:
			given = append(given, located(each, container))
		}
	}
	if those := usable(given, told); len(those) > 0 {
		return those
	}
	if those := usable(everybody(all, false), told); len(those) > 0 {
		return those
	}
	return usable(everybody(all, true), told)
}

// located is an endpoint with its container's address, if that is known.
func located(one *subsetsv1.Endpoint, container *subsetsv1.Container) *subsetsv1.Endpoint {
	if container.GetAddress() == "" || container.GetAddress() == one.GetAddress() {
		return one
	}
	return &subsetsv1.Endpoint{
		Instance: one.GetInstance(), Address: container.GetAddress(), Zone: container.GetZone(), Weight: one.GetWeight(),
	}
}

func everybody(all *subsetsv1.ServiceContainers, drained bool) (those []*subsetsv1.Endpoint) {
	for _, each := range all.GetContainers() {
		if drained || !each.GetDrained() {
			those = append(those, &subsetsv1.Endpoint{
				Instance: each.GetInstance(), Address: each.GetAddress(), Zone: each.GetZone(), Weight: 1,
			})
		}
	}
	return those
}

// usable are the endpoints that a client can take: each with an address of its own, and weights of 1 or more whose sum a
// client can hold.
func usable(given []*subsetsv1.Endpoint, told func(string, fault)) (those []endpoint) {
	addresses, names := map[string]bool{}, map[string]bool{}
	sum := uint64(0)
	for _, each := range given {
		host, port, ok := address(each.GetAddress())
		switch {
		case !ok:
			told(each.GetInstance(), noAddress)
			continue
		case addresses[each.GetAddress()]:
			told(each.GetInstance(), sameAddress)
			continue
		case names[each.GetInstance()]:
			told(each.GetInstance(), sameName)
			continue
		}
		addresses[each.GetAddress()], names[each.GetInstance()] = true, true
		weight := max(1, each.GetWeight())
		sum += uint64(weight)
		those = append(those, endpoint{each.GetInstance(), host, each.GetZone(), port, weight})
	}
	for shift := 0; sum>>shift > math.MaxUint32/2; shift++ {
		for i := range those {
			those[i].weight = max(1, those[i].weight/2)
		}
	}
	return those
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
