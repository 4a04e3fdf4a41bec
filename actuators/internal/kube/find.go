package kube

import (
	"cmp"
	"context"
	"net"
	"slices"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/pool"
)

// Pods finds an instance in each running pod that a selector selects. It implements discover.Source.
//
// A running pod that is not ready counts, too: a pool that is too small, or too large, may be the reason.
type Pods struct {
	cluster *Cluster
	config  PodsConfig
	// pool is that of every pod. Without a service, the pods' annotations declare pools.
	pool       pool.Key
	pods       *feed
	namespaces *feed
	overrides  *feed
	wake       chan struct{}
	// refused are the faults that were reported, by pod.
	refused map[string]bool
}

// Pods watches the pods of a discovery. shared is the pool of each; the zero value: their annotations declare pools.
func (c *Cluster) Pods(config PodsConfig, shared pool.Key) *Pods {
	fields := ""
	if c.config.Node != "" {
		fields = "spec.nodeName=" + c.config.Node
	}
	namespace := "" // all of them
	if config.Namespace != "" {
		namespace = "metadata.name=" + config.Namespace // the actuator needs no right to others
	}
	p := &Pods{
		cluster: c, config: config, pool: shared, wake: make(chan struct{}, 1),
		pods:       c.feed(pods, config.Namespace, config.Selector, fields, toPod),
		namespaces: c.feed(namespaces, "", "", namespace, toNamespace),
		overrides:  c.overrides(config.Namespace),
	}
	for _, f := range []*feed{p.pods, p.namespaces, p.overrides} {
		if f != nil {
			f.notify(p.wake)
		}
	}
	return p
}

// Changed implements discover.Prompt.
func (p *Pods) Changed() <-chan struct{} { return p.wake }

// Find implements discover.Source.
func (p *Pods) Find(ctx context.Context) ([]discover.Endpoint, error) {
	if err := p.pods.synced(ctx); err != nil {
		return nil, err
	}
	overrides, err := overridesOf(ctx, p.overrides)
	if err != nil {
		return nil, err
	}
	// Without the right to read namespaces there is no opt-in of a namespace.
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = p.namespaces.synced(soon)
	annotations := map[string]map[string]string{}
	for _, n := range listed[*Namespace](p.namespaces) {
		annotations[n.Name] = n.Annotations
	}
	endpoints, faults := p.instances(listed[*Pod](p.pods), annotations)
	for i := range endpoints {
		overrides.narrow(&endpoints[i])
	}
	p.report(faults)
	return endpoints, nil
}

// report makes an Event, a log entry and a count of each fault, once.
func (p *Pods) report(faults []podFault) {
	refused := map[string]bool{}
	for _, fault := range faults {
		key := string(fault.pod.UID) + " " + fault.Error()
		if refused[key] = true; !p.refused[key] {
			p.cluster.refuse(fault)
		}
	}
	p.refused = refused
}

// instances returns the instances of the running pods, by name, and the faults of their annotations. namespaces has the
// annotations of each.
func (p *Pods) instances(all []*Pod, namespaces map[string]map[string]string) (endpoints []discover.Endpoint, faults []podFault) {
	slices.SortFunc(all, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	for _, pod := range all {
		if !pod.Running {
			continue
		}
		declared, refusals := p.instance(pod, namespaces[pod.Namespace])
		endpoints = append(endpoints, declared...)
		for _, fault := range refusals {
			faults = append(faults, podFault{pod, fault})
		}
	}
	return endpoints, faults
}

func (p *Pods) instance(pod *Pod, namespace map[string]string) (endpoints []discover.Endpoint, faults []error) {
	if p.pool == (pool.Key{}) {
		endpoints, faults = declared(pod, namespace)
		if p.config.Namespace == "" {
			for i := range endpoints {
				endpoints[i].Name = pod.Namespace + "." + endpoints[i].Name
			}
		}
		return endpoints, faults
	}
	port, path, err := where(pod.Annotations, p.config.Port)
	if err != nil {
		return nil, []error{err}
	}
	endpoint := endpointOf(pod)
	endpoint.Address, endpoint.Path, endpoint.Pool = net.JoinHostPort(pod.IP, port), path, p.pool
	faults = applyFaults(pod.Annotations, "")
	if err := overlay(&endpoint, pod.Annotations, namespace, ""); err != nil {
		faults = append(faults, err)
	}
	return []discover.Endpoint{endpoint}, faults
}

// endpointOf has what is the same for all pools of a pod.
func endpointOf(pod *Pod) discover.Endpoint {
	return discover.Endpoint{
		Instance: instanceOf(pod),
		Object:   discover.Object{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}, Workload: pod.Workload,
	}
}

// podFault is a fault in the annotations of a pod.
type podFault struct {
	pod *Pod
	err error
}

func (e podFault) Error() string { return "pod " + e.pod.Name + ": " + e.err.Error() }
func (e podFault) Unwrap() error { return e.err }
