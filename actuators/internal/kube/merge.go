package kube

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"sluice.dev/actuators/internal/membership"
)

// merge returns the containers that the slices of one Service name, by instance. pods are those of the namespace, by name.
//
//	condition of the endpoint        the container
//	terminating and serving          is drained: it still answers, and its callers leave it
//	terminating, not serving         is left out
//	ready                            is live
//	not ready                        is left out
//
// A pod whose deletion began is terminating, whether or not its slice has that yet. An endpoint whose pod is gone, or is
// another pod of the same name, is left out. While Kubernetes moves an endpoint it may be in several slices, some of them old:
// a condition holds where one of them has it. The order of slices has no effect.
func merge(all []*EndpointSlice, pods map[string]*Pod, config EndpointsConfig) (list membership.List) {
	family := familyOf(all, config.Family)
	found, podless, portless := map[string]Endpoint{}, 0, map[string]bool{}
	for _, slice := range all {
		if slice.Family != family {
			continue
		}
		port, there := portOf(slice, config.Port)
		if !there && len(slice.Endpoints) > 0 {
			portless[strings.Join(slices.Sorted(maps.Keys(slice.Ports)), ", ")] = true
		}
		for _, e := range slice.Endpoints {
			pod := pods[e.Pod]
			switch {
			case e.Pod == "":
				podless++
				continue
			case pod == nil || e.PodUID != "" && e.PodUID != string(pod.UID):
				continue
			}
			if e.Address != "" && there {
				e.Address = net.JoinHostPort(e.Address, port)
			} else {
				e.Address = ""
			}
			e.Terminating = e.Terminating || pod.DeletionTimestamp != nil
			if other, twice := found[e.Pod]; twice {
				e = together(e, other)
			}
			found[e.Pod] = e
		}
	}
	if podless > 0 {
		list.Faults = append(list.Faults, fmt.Sprintf("%d endpoints name no pod: they are left out", podless))
	}
	for _, ports := range slices.Sorted(maps.Keys(portless)) {
		list.Faults = append(list.Faults, fmt.Sprintf("kubernetes.port: %q: the Service has the ports [%s]: its containers have no address", config.Port, ports))
	}
	byInstance := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		e := found[name]
		if e.Terminating && !e.Serving || !e.Terminating && !e.Ready {
			continue
		}
		instance := instanceOf(pods[name])
		if first, taken := byInstance[instance]; taken {
			list.Faults = append(list.Faults, fmt.Sprintf("pods %s and %s have the instance %q: the second is left out", first, name, instance))
			continue
		}
		byInstance[instance] = name
		list.Containers = append(list.Containers, membership.Container{
			Instance: instance, Address: e.Address, Host: e.Node, Zone: e.Zone, Drained: e.Terminating,
		})
	}
	slices.SortFunc(list.Containers, func(a, b membership.Container) int { return cmp.Compare(a.Instance, b.Instance) })
	return list
}

// together merges what two slices have of one pod.
func together(a, b Endpoint) Endpoint {
	a.Ready, a.Serving, a.Terminating = a.Ready || b.Ready, a.Serving || b.Serving, a.Terminating || b.Terminating
	a.Address, a.Node, a.Zone = max(a.Address, b.Address), max(a.Node, b.Node), max(a.Zone, b.Zone)
	return a
}

// familyOf is the configured family, else IPv4 where a slice with endpoints has it.
func familyOf(all []*EndpointSlice, configured string) string {
	if configured != "" {
		return configured
	}
	for _, slice := range all {
		if slice.Family == ipv4 && len(slice.Endpoints) > 0 {
			return ipv4
		}
	}
	return ipv6
}

// portOf is the port of that name, or the only one. false: the slice does not have it.
func portOf(slice *EndpointSlice, name string) (string, bool) {
	port, there := slice.Ports[name]
	if name == "" && len(slice.Ports) == 1 {
		for _, port = range slice.Ports {
			there = true
		}
	}
	return strconv.FormatInt(port, 10), there && port > 0
}

// instanceOf is the pod's name in spans.
func instanceOf(pod *Pod) string {
	return cmp.Or(pod.Annotations[instanceAnnotation], pod.Instance, pod.Name)
}
