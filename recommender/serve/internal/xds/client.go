package xds

import (
	"maps"
	"slices"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// client is one stream: its node, and the responses that were sent. It implements cache.ConfigWatcher for the protocol engine
// of go-control-plane, which calls it from the stream's own goroutine.
type client struct {
	hub *Hub
	// by is the caller, where callers are authenticated.
	by   string
	node *node
	// The hub's lock protects the fields below, because the hub answers watches from a goroutine of its own.
	made map[string]*made
	// acked has the version of each EDS resource that the client last applied or refused. revisions has the revisions of the
	// subsets that were sent, by version.
	acked     map[string]string
	revisions map[string]uint64
	// offered has the sizes that clusters were sent with last, inForce those that the client has.
	offered, inForce map[string]bound
}

// made is an EDS resource, and its sources.
type made struct {
	subset     *table.Subset
	containers *table.Entry[keys.Called, *subsetsv1.ServiceContainers]
	resource   resource
}

var errOtherNode = problem.Conflict("node", "differs from the stream's first request", "one node a stream")

// mostNames bounds the names in one request.
const mostNames = 10_000

// CreateWatch implements cache.ConfigWatcher.
func (c *client) CreateWatch(request *cache.Request, of cache.Subscription, to chan cache.Response) (func(), error) {
	if err := c.known(request.GetNode(), len(of.SubscribedResources())); err != nil {
		return nil, err
	}
	c.heard(request.GetTypeUrl(), request.GetResponseNonce(), of.ReturnedResources(), request.GetErrorDetail())
	return c.hub.watch(c.world(request, of, to)), nil
}

// CreateDeltaWatch implements cache.ConfigWatcher.
func (c *client) CreateDeltaWatch(request *cache.DeltaRequest, of cache.Subscription, to chan cache.DeltaResponse) (func(), error) {
	if err := c.known(request.GetNode(), len(of.SubscribedResources())); err != nil {
		return nil, err
	}
	c.heard(request.GetTypeUrl(), request.GetResponseNonce(), of.ReturnedResources(), request.GetErrorDetail())
	return c.hub.watch(c.delta(request, of, to)), nil
}

func (c *client) known(given *core.Node, names int) error {
	if names > mostNames {
		return problem.Conflict("resource_names", "are too many", "at most 10,000")
	}
	n, err := nodeOf(given)
	if err != nil {
		return err
	}
	if c.node == nil {
		c.node = &n
	}
	if *c.node != n {
		return errOtherNode
	}
	return nil
}

// calls are the services that the node's container has subsets of.
func (c *client) calls(tables *table.Log) (services []string) {
	for _, e := range tables.Subsets.Of(c.node.upstream) {
		if e.Key.Instance == c.node.instance {
			services = append(services, e.Key.Downstream)
		}
	}
	return services
}

// resources are the existing resources of a type with these names.
func (c *client) resources(tables *table.Log, kind string, names []string) (those []resource) {
	names = slices.Clone(names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "" || len(name) > problem.MostName {
			continue
		}
		if kind == endpointType {
			if r, ok := c.endpoints(tables, name); ok {
				those = append(those, r)
			}
		} else if message, ok := fixed(kind, name); ok {
			r := resource{name: name}
			if of, ok := message.(*cluster.Cluster); ok {
				c.bind(tables, of, &r)
			}
			r.body = packed(message)
			r.version.content = contentOf(r.body.GetValue())
			those = append(those, r)
		}
	}
	return those
}

// endpoints are those of the node's container towards a service; none where the service is not known, or has no container
// that can be reached: a client that has some keeps them.
func (c *client) endpoints(tables *table.Log, service string) (resource, bool) {
	// In the opposite order of publication, so that containers are never older than the subset.
	subset, view := tables.Subsets.Get(keys.Subset{Upstream: c.node.upstream, Instance: c.node.instance, Downstream: service})
	containers, _ := tables.Containers.Get(keys.Called(service))
	if containers == nil {
		return resource{}, false
	}
	last := c.made[service]
	if last == nil || last.subset != subset || last.containers != containers {
		last = &made{subset: subset, containers: containers}
		last.resource = c.make(last, service, topicName(view.Topic))
		c.made[service] = last
	}
	return last.resource, last.resource.body != nil
}

func (c *client) make(of *made, service, topic string) resource {
	r := resource{name: service, version: version{topic: topic}}
	r.version.add(of.containers.Shard, of.containers.Offset)
	var subset *subsetsv1.Subset
	if of.subset != nil {
		subset, r.revision = of.subset.Answer, of.subset.Answer.GetRevision()
		r.version.add(of.subset.Shard, of.subset.Offset)
	}
	those := assign(subset, of.containers.Answer, func(instance string, why fault) { c.hub.fault(service, instance, why) })
	if len(those) == 0 {
		return r
	}
	r.body = packed(assignment(service, those))
	r.version.content = contentOf(r.body.GetValue())
	return r
}

// sent are the versions that the client has once it received those resources.
func (c *client) sent(w *watch, those []resource) map[string]string {
	next := maps.Clone(w.known)
	if next == nil {
		next = map[string]string{}
	}
	for _, each := range those {
		next[each.name] = each.version.String()
		if w.kind == endpointType {
			c.revisions[each.name] = each.revision
		}
		if each.bound != nil {
			c.offered[each.name] = *each.bound
		}
	}
	c.hub.counts.sent.WithLabelValues(short(w.kind)).Inc()
	return next
}

var _ cache.ConfigWatcher = (*client)(nil)
