package xds

import (
	"math"
	"net"
	"net/netip"
	"strconv"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

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
		endpoints = append(endpoints, endpoint{instance: candidate.GetInstance(), host: host, zone: candidate.GetZone(), port: port, weight: weight})
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
