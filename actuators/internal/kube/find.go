package kube

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"slices"
	"time"

	"sluice.dev/actuators/internal/discover"
)

// Pods finds an instance in each running pod that a selector selects. It implements discover.Source.
//
// A running pod that is not ready counts, too: a pool that is too small, or too large, may be the reason.
type Pods struct {
	config     PodsConfig
	pods       *feed
	namespaces *feed
	wake       chan struct{}
	log        *slog.Logger
	lastFault  string
}

// Pods watches the pods of a discovery.
func (c *Cluster) Pods(config PodsConfig) *Pods {
	fields := ""
	if c.config.Node != "" {
		fields = "spec.nodeName=" + c.config.Node
	}
	p := &Pods{
		config: config, wake: make(chan struct{}, 1), log: c.log,
		pods: c.feed(pods, config.Namespace, config.Selector, fields, toPod),
		// Watch this namespace only, so that the actuator needs no right to others.
		namespaces: c.feed(namespaces, "", "", "metadata.name="+config.Namespace, toNamespace),
	}
	p.pods.notify(p.wake)
	p.namespaces.notify(p.wake)
	return p
}

// Changed implements discover.Prompt.
func (p *Pods) Changed() <-chan struct{} { return p.wake }

// Find implements discover.Source.
func (p *Pods) Find(ctx context.Context) ([]discover.Endpoint, error) {
	if err := p.pods.synced(ctx); err != nil {
		return nil, err
	}
	// Without the right to read namespaces there is no opt-in of a namespace.
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = p.namespaces.synced(soon)
	var of map[string]string
	for _, n := range listed[*Namespace](p.namespaces) {
		of = n.Annotations
	}
	endpoints, err := instances(listed[*Pod](p.pods), of, p.config.Port)
	if err != nil && err.Error() != p.lastFault {
		p.log.Warn("a pod is not a target", "error", err)
		p.lastFault = err.Error()
	}
	return endpoints, nil
}

// instances returns the instances of the running pods, by name. err names each pod without one, and the reason.
func instances(all []*Pod, namespace map[string]string, port int64) (endpoints []discover.Endpoint, err error) {
	slices.SortFunc(all, func(a, b *Pod) int { return cmp.Compare(a.Name, b.Name) })
	for _, pod := range all {
		if !pod.Running {
			continue
		}
		port, path, fault := where(pod.Annotations, port)
		if fault != nil {
			err = &podError{pod.Name, fault}
			continue
		}
		endpoints = append(endpoints, discover.Endpoint{
			Address: net.JoinHostPort(pod.IP, port), Path: path, OptIn: optIn(pod.Annotations, namespace),
			Instance: cmp.Or(pod.Annotations[instanceAnnotation], pod.Name),
			Object:   discover.Object{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)},
		})
	}
	return endpoints, err
}

type podError struct {
	pod string
	err error
}

func (e *podError) Error() string { return "pod " + e.pod + ": " + e.err.Error() }
func (e *podError) Unwrap() error { return e.err }
