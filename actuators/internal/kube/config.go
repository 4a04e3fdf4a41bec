// Package kube watches a Kubernetes cluster: pods that are targets, and changes by autoscalers. It writes Events, and one
// Lease for each target. It never changes a workload, its replicas or its limits.
package kube

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Config is the `kubernetes` block at the top of the file.
type Config struct {
	// Kubeconfig is a path; without it the process uses the service account of its own pod.
	Kubeconfig string `yaml:"kubeconfig"`
	// Node limits discovery to the pods of one node, for an agent on each.
	Node string `yaml:"node"`
	// Pod is the pod that this process runs beside: the targets of the file are in it.
	Pod Object `yaml:"pod"`
	// Events turns Events of the pod on, for writes, failures and refusals.
	Events bool `yaml:"events"`
	// Lease is how long a target stays this process's without a renewal; it is renewed at half of that. 0: targets are not
	// claimed, and nothing keeps two actuators apart.
	Lease time.Duration `yaml:"lease"`
	// SoftResources shows each pool as an object `softresources` of its namespace, whose spec overrides this configuration.
	SoftResources bool `yaml:"soft_resources"`
}

// DefaultConfig has the default values of the block.
func DefaultConfig() Config { return Config{Events: true, Lease: 2 * time.Minute} }

// Object is a pod, or another namespaced object.
type Object struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	UID       string `yaml:"uid"`
}

// Validate returns every fault, each with its key and the legal values.
func (c Config) Validate() error {
	var faults []error
	if (c.Pod.Namespace == "") != (c.Pod.Name == "") {
		faults = append(faults, fmt.Errorf("pod: namespace %q and name %q: want both, or neither", c.Pod.Namespace, c.Pod.Name))
	}
	if c.Lease != 0 && (c.Lease < 10*time.Second || c.Lease > time.Hour) {
		faults = append(faults, fmt.Errorf("lease: %s: want 10s to 1h, or 0s for none", c.Lease))
	}
	return errors.Join(faults...)
}

// Variables calls fill with each text that may name environment variables.
func (c *Config) Variables(fill func(text *string, key string)) {
	fill(&c.Kubeconfig, "kubeconfig")
	fill(&c.Node, "node")
	fill(&c.Pod.Namespace, "pod.namespace")
	fill(&c.Pod.Name, "pod.name")
	fill(&c.Pod.UID, "pod.uid")
}

// PodsConfig is the `kubernetes` block of a discovery.
type PodsConfig struct {
	// Namespace of the pods. Where the pods declare their pools, empty: all namespaces.
	Namespace string `yaml:"namespace"`
	// Selector selects labels, as kubectl takes it: app=cart,track!=canary. Where the pods declare their pools, empty: all pods.
	Selector string `yaml:"selector"`
	// Port is the port of a pod without the annotation sluice.dev/port. Where the pods declare their pools, it has no meaning.
	Port int64 `yaml:"port"`
}

// Validate returns every fault, each with its key and the legal values. declared: the pods declare their pools.
func (c PodsConfig) Validate(declared bool) error {
	var faults []error
	if !dnsLabel.MatchString(c.Namespace) && (c.Namespace != "" || !declared) {
		faults = append(faults, fmt.Errorf("namespace: %q: want the name of a namespace", c.Namespace))
	}
	if _, err := parseSelector(c.Selector); err != nil || c.Selector == "" && !declared {
		faults = append(faults, fmt.Errorf("selector: %q: want labels such as app=cart", c.Selector))
	}
	if declared && c.Port != 0 {
		faults = append(faults, fmt.Errorf("port: %d: want none: the pods' annotation sluice.dev/target has it", c.Port))
	}
	if c.Port < 0 || c.Port > 65535 {
		faults = append(faults, fmt.Errorf("port: %d: want 1 to 65535, or nothing where an annotation has it", c.Port))
	}
	return errors.Join(faults...)
}

// WorkloadConfig is the `kubernetes` block of a scaling source.
type WorkloadConfig struct {
	Namespace string `yaml:"namespace"`
	// Kind is Deployment or StatefulSet.
	Kind string `yaml:"kind"`
	Name string `yaml:"name"`
	// Container is the one whose CPU limit counts; by default the pod's first.
	Container string `yaml:"container"`
}

// Validate returns every fault, each with its key and the legal values.
func (c WorkloadConfig) Validate() error {
	var faults []error
	if !dnsLabel.MatchString(c.Namespace) {
		faults = append(faults, fmt.Errorf("namespace: %q: want the name of a namespace", c.Namespace))
	}
	if _, ok := workloads[c.Kind]; !ok {
		faults = append(faults, fmt.Errorf("kind: %q: want Deployment or StatefulSet", c.Kind))
	}
	if c.Name == "" {
		faults = append(faults, errors.New(`name: "": want the name of the workload`))
	}
	return errors.Join(faults...)
}

// EndpointsConfig is the `kubernetes` block of a service whose containers are reported.
type EndpointsConfig struct {
	Namespace string `yaml:"namespace"`
	// Service is the name of the Kubernetes Service; by default the service's name in spans.
	Service string `yaml:"service"`
	// Port is the name of the Service's port that callers use. It may be empty where there is only one.
	Port string `yaml:"port"`
	// Family is IPv4 or IPv6. By default it is IPv4, and IPv6 where the Service has no IPv4.
	Family string `yaml:"family"`
}

// Validate returns every fault, each with its key and the legal values.
func (c EndpointsConfig) Validate() error {
	var faults []error
	if !dnsLabel.MatchString(c.Namespace) {
		faults = append(faults, fmt.Errorf("namespace: %q: want the name of a namespace", c.Namespace))
	}
	if !dnsLabel.MatchString(c.Service) {
		faults = append(faults, fmt.Errorf("service: %q: want the name of a Kubernetes Service; by default it is the service's name in spans", c.Service))
	}
	if c.Port != "" && !dnsLabel.MatchString(c.Port) {
		faults = append(faults, fmt.Errorf("port: %q: want the name of the Service's port, or nothing where it has one port", c.Port))
	}
	if c.Family != "" && c.Family != ipv4 && c.Family != ipv6 {
		faults = append(faults, fmt.Errorf("family: %q: want IPv4 or IPv6, or nothing for IPv4 where the Service has it", c.Family))
	}
	return errors.Join(faults...)
}

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
