package kube

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/pool"
)

// Annotations by which a pod declares its pools. A suffix .NAME tells several pools of a pod apart.
const (
	declaredAnnotation = prefix + "pool"
	kindAnnotation     = prefix + "target"
)

// Kinds are the kinds of target that a pod may declare: those that need no more than a URL.
var Kinds = []string{"handler", "hikari", "tomcat"}

var (
	poolForm   = regexp.MustCompile(`^(server|consumer|client/(.+))$`)
	targetForm = regexp.MustCompile(`^(` + strings.Join(Kinds, "|") + `):([0-9]{1,5})(/.*)?$`)
)

// declared returns an endpoint for each pool that a pod declares. A fault names the annotation and the legal form; it loses
// its own pool only.
func declared(pod *Pod, namespace map[string]string) (endpoints []discover.Endpoint, faults []error) {
	suffixes := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(pod.Annotations)) {
		base, name, _ := strings.Cut(strings.TrimPrefix(key, prefix), ".")
		suffix := strings.TrimPrefix(key, prefix+base)
		switch base = prefix + base; {
		case base == declaredAnnotation || base == kindAnnotation:
			suffixes[suffix] = true
		case base == applyAnnotation:
			faults = append(faults, applyFaults(pod.Annotations, suffix)...)
			if name != "" {
				suffixes[suffix] = true
			}
		case base == sloAnnotation:
			if _, err := sloOf(pod.Annotations, suffix); err != nil {
				faults = append(faults, err)
			}
			if name != "" {
				suffixes[suffix] = true
			}
		case name != "" || base != portAnnotation && base != pathAnnotation && base != instanceAnnotation:
			faults = append(faults, fmt.Errorf("annotation %s: want pool, target, apply, slo (each may end with .NAME), instance, port or path after %s", key, prefix))
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(suffixes)) {
		endpoint, refusals := declaration(pod, suffix)
		if len(refusals) > 0 {
			faults = append(faults, refusals...)
			continue
		}
		_ = overlay(&endpoint, pod.Annotations, namespace, suffix) // the error is among the faults
		endpoints = append(endpoints, endpoint)
	}
	return endpoints, faults
}

// declaration returns the endpoint of one pool of a pod, without its opt-in and SLO.
func declaration(pod *Pod, suffix string) (endpoint discover.Endpoint, faults []error) {
	poolText, targetText := pod.Annotations[declaredAnnotation+suffix], pod.Annotations[kindAnnotation+suffix]
	side, target := poolForm.FindStringSubmatch(poolText), targetForm.FindStringSubmatch(targetText)
	if side == nil {
		faults = append(faults, refused(declaredAnnotation+suffix, poolText, "server, consumer or client/PEER"))
	}
	if target == nil {
		faults = append(faults, refused(kindAnnotation+suffix, targetText, "KIND:PORT or KIND:PORT/PATH, of the kind "+strings.Join(Kinds, ", ")))
	} else if port, _ := strconv.Atoi(target[2]); port < 1 || port > 65535 || !path.MatchString(target[3]) {
		faults = append(faults, refused(kindAnnotation+suffix, targetText, "a port of 1 to 65535, and a path such as /jolokia/"))
	}
	if len(faults) > 0 {
		return endpoint, faults
	}
	endpoint = endpointOf(pod)
	endpoint.Address, endpoint.Path, endpoint.Kind = net.JoinHostPort(pod.IP, target[2]), target[3], target[1]
	endpoint.Pool = pool.Key{Service: pod.Service, Peer: side[2]}
	endpoint.Pool.Side, _ = pool.ParseSide(strings.TrimSuffix(side[1], "/"+side[2]))
	endpoint.Name = pod.Name + suffix
	return endpoint, nil
}
