package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// What is kept of the cluster's objects: what is decided by, and no more, so that thousands of pods fit a small process.

// Pod is one instance.
type Pod struct {
	metav1.ObjectMeta
	IP string
	// Running: it was started and is not told to end. Ready: it is also given requests.
	Running, Ready bool
	// Containers are in the order of the pod.
	Containers []Container
}

// Container has what CPU it is to have, and has, in cores; 0 is none.
type Container struct {
	Name string
	// Request and Limit are the spec's. InForce is the limit that the node says it gave, 0 where it does not say.
	Request, Limit, InForce float64
}

// least is the smaller of the limit wanted and the one in force: a pool is to fit both.
func (c Container) least() float64 {
	if c.InForce > 0 && (c.Limit == 0 || c.InForce < c.Limit) {
		return c.InForce
	}
	return c.Limit
}

// container is the one of that name, or the first.
func (p *Pod) container(name string) (Container, bool) {
	for _, c := range p.Containers {
		if c.Name == name || name == "" {
			return c, true
		}
	}
	return Container{}, false
}

// Workload is a Deployment or StatefulSet.
type Workload struct {
	metav1.ObjectMeta
	// Desired is how many replicas it is to have.
	Desired  uint32
	Selector labels.Selector
	// Containers are those of its template.
	Containers []Container
	// Rolling: some of its pods are still of an earlier template, and are going to be replaced.
	Rolling bool
}

// Autoscaler is a HorizontalPodAutoscaler.
type Autoscaler struct {
	metav1.ObjectMeta
	Of Ref
	// Desired is how many replicas it is going to give. Active: it knows its metrics, and acts.
	Desired uint32
	Active  bool
}

// Vertical is a VerticalPodAutoscaler.
type Vertical struct {
	metav1.ObjectMeta
	Of Ref
	// Acts: it changes pods, and not only says what they should have.
	Acts bool
	// Advice is by container, of requests, in cores.
	Advice map[string]Advice
}

// Advice is what a container should request. Above Upper it is going to be given Target.
type Advice struct{ Target, Upper float64 }

// Ref names what an autoscaler scales, in its own namespace.
type Ref struct{ Kind, Name string }

// Namespace has the opt-in of its pods.
type Namespace struct{ metav1.ObjectMeta }
