package kube

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/pool"
)

// SoftResource is the object of one pool in a namespace, as the chart's crds/softresources.yaml defines it.
type SoftResource struct {
	metav1.ObjectMeta
	Spec   softSpec
	Status softStatus
}

// softSpec names the pool, and overrides the configuration for its pods.
type softSpec struct {
	Pool struct {
		Service string `json:"service"`
		Side    string `json:"side"`
		Peer    string `json:"peer,omitempty"`
	} `json:"pool"`
	// Bounds narrow the configuration's; 0 does not.
	Bounds struct {
		Min int64 `json:"min"`
		Max int64 `json:"max"`
	} `json:"bounds"`
	Apply *bool  `json:"apply"`
	SLO   string `json:"slo"`
}

// softStatus has no optional fields, so that a merge patch removes what is no longer known.
type softStatus struct {
	Pool               string             `json:"pool"`
	Target             *uint32            `json:"target"`
	InForce            string             `json:"inForce"`
	State              string             `json:"state"`
	Action             string             `json:"action"`
	Reason             string             `json:"reason"`
	ObservedGeneration int64              `json:"observedGeneration"`
	Conditions         []metav1.Condition `json:"conditions"`
}

func toSoftResource(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[struct {
		Spec   softSpec   `json:"spec"`
		Status softStatus `json:"status"`
	}](u)
	return &SoftResource{meta(u), wire.Spec, wire.Status}, err
}

// place is a pool in a namespace.
type place struct {
	namespace string
	pool      pool.Key
}

func (r *SoftResource) place() place {
	side, _ := pool.ParseSide(r.Spec.Pool.Side) // the API server refuses another
	return place{r.Namespace, pool.Key{Service: r.Spec.Pool.Service, Side: side, Peer: r.Spec.Pool.Peer}}
}

// overrides returns the feed of the softresources of a namespace (all, when empty); nil where they are turned off.
func (c *Cluster) overrides(namespace string) *feed {
	if !c.config.SoftResources {
		return nil
	}
	f := c.feed(softResources, namespace, "", "", toSoftResource)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown[namespace] = f
	return f
}

// overrides are the objects whose spec counts.
type overrides map[place]*SoftResource

// overridesOf waits until the objects are known: a pool must not be written before its `apply: false` is read. Without the
// definition of the resource there is none.
func overridesOf(ctx context.Context, f *feed) (overrides, error) {
	first := overrides{}
	if f == nil {
		return first, nil
	}
	if err := f.synced(ctx); errors.Is(err, errAbsent) {
		return first, nil
	} else if err != nil {
		return nil, err
	}
	for _, r := range oldestFirst(f) {
		if first[r.place()] == nil {
			first[r.place()] = r
		}
	}
	return first, nil
}

// oldestFirst orders the objects: the oldest of a pool counts.
func oldestFirst(f *feed) []*SoftResource {
	all := listed[*SoftResource](f)
	slices.SortFunc(all, func(a, b *SoftResource) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// narrow lays the spec of an endpoint's pool over its annotations.
func (o overrides) narrow(endpoint *discover.Endpoint) {
	r := o[place{endpoint.Object.Namespace, endpoint.Pool}]
	if r == nil {
		return
	}
	endpoint.Min, endpoint.Max = r.Spec.Bounds.Min, r.Spec.Bounds.Max
	if slo, err := pool.ParseSLO(r.Spec.SLO); err == nil { // else absent: the API server refuses another
		endpoint.SLO = slo
	}
	if apply := r.Spec.Apply; apply != nil && *apply {
		endpoint.OptIn = discover.In
	} else if apply != nil {
		endpoint.OptIn = discover.Out
	}
}

var nameable = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(/[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// softName is the name of an object that the actuator creates.
//
//	cart/client/postgres               cart.client.postgres
//	cart/client/127.0.0.1/petclinic    cart.client.127.0.0.1.petclinic.9b1c3e70
func softName(key pool.Key) string {
	whole := key.String()
	if nameable.MatchString(whole) && len(whole) <= 200 {
		return strings.ReplaceAll(whole, "/", ".")
	}
	return objectName(whole)
}
