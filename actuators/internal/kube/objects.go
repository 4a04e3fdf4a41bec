package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sluice.dev/actuators/internal/discover"
)

// The reduced objects of the cluster: only the fields that decisions need, so that thousands of pods fit a small process.

// Pod is one instance.
type Pod struct {
	metav1.ObjectMeta
	IP string
	// Running: the pod was started and is not being deleted. Ready: it also gets requests.
	Running, Ready bool
	// Containers are in the order of the pod's spec.
	Containers []Container
	// Service and Instance are its names in spans.
	Service, Instance string
	Workload          discover.Workload
}

// Container has the CPU of a container, in cores; 0 is none.
type Container struct {
	Name string
	// Request and Limit are the spec's. InForce is the limit that the node reports; 0 where it reports none.
	Request, Limit, InForce float64
}

// least is the smaller of the wanted limit and the one in force: a pool has to fit both.
func (c Container) least() float64 {
	if c.InForce > 0 && (c.Limit == 0 || c.InForce < c.Limit) {
		return c.InForce
	}
	return c.Limit
}

// container returns the container of that name, or the first.
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
	// Desired is the wanted number of replicas.
	Desired  uint32
	Selector labels.Selector
	// Containers are those of its template.
	Containers []Container
	// Rolling: some of its pods still have an earlier template, and are going to be replaced.
	Rolling bool
}

// Autoscaler is a HorizontalPodAutoscaler.
type Autoscaler struct {
	metav1.ObjectMeta
	Of Ref
	// Desired is the number of replicas that it is going to set. Active: it knows its metrics, and acts.
	Desired uint32
	Active  bool
}

// Vertical is a VerticalPodAutoscaler.
type Vertical struct {
	metav1.ObjectMeta
	Of Ref
	// Acts: it changes pods, and does not only recommend.
	Acts bool
	// Advice has the recommended requests by container, in cores.
	Advice map[string]Advice
}

// Advice is a recommended request. The VPA sets a request above Upper to Target.
type Advice struct{ Target, Upper float64 }

// Ref names the object that an autoscaler scales, in its own namespace.
type Ref struct{ Kind, Name string }

// Namespace has the opt-in of its pods.
type Namespace struct{ metav1.ObjectMeta }

// EndpointSlice is a part of the endpoints of a Service, of one address family. A Service has several.
type EndpointSlice struct {
	metav1.ObjectMeta
	// Family is IPv4, IPv6 or FQDN.
	Family string
	// Ports are by name; 0 is any port.
	Ports     map[string]int64
	Endpoints []Endpoint
}

// Endpoint is a pod of a Service. An absent condition has Kubernetes' default: Ready and Serving are true, Terminating false.
type Endpoint struct {
	Address string
	// Ready: it gets new calls. Serving: it answers, which it may also do while it is Terminating.
	Ready, Serving, Terminating bool
	// Pod and PodUID name its pod; empty where it has none.
	Pod, PodUID string
	Node, Zone  string
}
