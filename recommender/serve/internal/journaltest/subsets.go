package journaltest

import (
	"fmt"

	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Container is a container of a service; its address depends on its name alone.
func Container(instance string) *subsetsv1.Container {
	return &subsetsv1.Container{Instance: instance, Address: address(instance), Zone: "z1"}
}

// Containers are all containers of a service.
func Containers(service string, instances ...string) *subsetsv1.ServiceContainers {
	message := &subsetsv1.ServiceContainers{Service: service}
	for _, instance := range instances {
		message.Containers = append(message.Containers, Container(instance))
	}
	return message
}

// Subset has the instances with weights 1, 2, 3 and so on.
func Subset(key keys.Subset, revision uint64, instances ...string) *subsetsv1.Subset {
	s := &subsetsv1.Subset{Key: key.Proto(), State: subsetsv1.State_STATE_PROVIDED, Strategy: "microns", Revision: revision}
	for i, instance := range instances {
		s.Endpoints = append(s.Endpoints, &subsetsv1.Endpoint{
			Instance: instance, Address: address(instance), Weight: uint32(i + 1), Zone: "z1",
		})
	}
	return s
}

// DeletedSubset is the record of a container that is gone.
func DeletedSubset(key keys.Subset, revision uint64) *subsetsv1.Subset {
	return &subsetsv1.Subset{Key: key.Proto(), State: subsetsv1.State_STATE_DELETED, Revision: revision}
}

// Connect writes the containers of services and subsets, with a heartbeat, in one transaction.
func (d *Decider) Connect(containers []*subsetsv1.ServiceContainers, subsets ...*subsetsv1.Subset) {
	d.t.Helper()
	d.Begin()
	for _, service := range containers {
		d.Put(d.journal.Decisions, keys.CalledService(service.GetService()).Record(), service)
	}
	for _, subset := range subsets {
		d.Put(d.journal.Decisions, keys.SubsetOf(subset.GetKey()).Record(), subset)
	}
	d.Heartbeat()
	d.End(true)
}

func address(instance string) string {
	sum := uint32(2166136261)
	for _, c := range []byte(instance) {
		sum = (sum ^ uint32(c)) * 16777619
	}
	return fmt.Sprintf("10.%d.%d.%d:80", byte(sum>>16), byte(sum>>8), byte(sum))
}
