package config

import (
	"errors"
	"fmt"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/kube"
)

// Containers is a service whose containers are reported to the recommender, for subsets.
type Containers struct {
	// Service is its name in spans.
	Service string `yaml:"service"`
	// Renew is the longest time between two reports; the decider's report_lease has to be longer than two of them.
	Renew time.Duration `yaml:"renew"`
	// Kubernetes is the only kind of source.
	Kubernetes *kube.EndpointsConfig `yaml:"kubernetes"`
}

// DefaultContainers has the default values: two renewals in the decider's report_lease of 10 minutes.
func DefaultContainers() Containers { return Containers{Renew: 4 * time.Minute} }

// expand fills the variables, and the name of the Kubernetes Service.
func (c *Containers) expand(root string, lookup func(string) (string, bool)) error {
	f := filler{lookup: lookup, root: root + "."}
	if k := c.Kubernetes; k != nil {
		f.fill(&k.Namespace, "kubernetes.namespace")
		if f.fill(&k.Service, "kubernetes.service"); k.Service == "" {
			k.Service = c.Service
		}
	}
	return errors.Join(f.faults...)
}

func (c *Containers) validate() error {
	var faults []error
	if c.Service == "" || len(c.Service) > maxInstance {
		faults = append(faults, fmt.Errorf("service: %q: want the service.name of the containers, 1 to %d bytes", c.Service, maxInstance))
	}
	faults = append(faults, within("renew", c.Renew, 10*time.Second, time.Hour))
	if c.Kubernetes == nil {
		faults = append(faults, errors.New("kubernetes: absent: want the block, with a namespace"))
	} else {
		faults = append(faults, block.Below("kubernetes", c.Kubernetes.Validate()))
	}
	return errors.Join(faults...)
}

// validateContainers returns each fault of the sources of containers. Of two reports of one service, the later would replace
// the earlier.
func (c *Config) validateContainers() (faults []error) {
	if len(c.Containers) > maxTargets {
		faults = append(faults, fmt.Errorf("containers: %d of them: want %d at most", len(c.Containers), maxTargets))
	}
	if c.Kubernetes != nil && c.Kubernetes.Node != "" && len(c.Containers) > 0 {
		faults = append(faults, fmt.Errorf("containers: kubernetes.node is %q: want no node, because one actuator reports the pods of all nodes", c.Kubernetes.Node))
	}
	first := map[string]int{}
	for i := range c.Containers {
		service := c.Containers[i].Service
		faults = append(faults, block.Below(fmt.Sprintf("containers[%d]", i), c.Containers[i].validate()))
		if at, twice := first[service]; twice {
			faults = append(faults, fmt.Errorf("containers[%d].service: %q: containers[%d] has it too; want each once", i, service, at))
		} else {
			first[service] = i
		}
	}
	return faults
}
