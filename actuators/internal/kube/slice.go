package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	ipv4 = "IPv4"
	ipv6 = "IPv6"
	// serviceNameLabel names the Service of an EndpointSlice.
	serviceNameLabel = "kubernetes.io/service-name"
)

func toSlice(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[wireSlice](u)
	if err != nil {
		return nil, err
	}
	slice := &EndpointSlice{
		ObjectMeta: meta(u), Family: wire.AddressType, Ports: make(map[string]int64, len(wire.Ports)),
		Endpoints: make([]Endpoint, 0, len(wire.Endpoints)),
	}
	for _, port := range wire.Ports {
		slice.Ports[port.Name] = port.Port
	}
	for _, e := range wire.Endpoints {
		endpoint := Endpoint{
			Ready: orTrue(e.Conditions.Ready), Serving: orTrue(e.Conditions.Serving),
			Terminating: e.Conditions.Terminating != nil && *e.Conditions.Terminating, Node: e.NodeName, Zone: e.Zone,
		}
		// The API server takes several addresses of an endpoint; their meaning is that of the first.
		if len(e.Addresses) > 0 {
			endpoint.Address = e.Addresses[0]
		}
		if e.TargetRef.Kind == "Pod" {
			endpoint.Pod, endpoint.PodUID = e.TargetRef.Name, e.TargetRef.UID
		}
		slice.Endpoints = append(slice.Endpoints, endpoint)
	}
	return slice, nil
}

func orTrue(condition *bool) bool { return condition == nil || *condition }
