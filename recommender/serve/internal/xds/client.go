package xds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
	// caller is the caller's name, if callers are authenticated.
	caller string
	node   *node
	// types are those that the client asked for.
	types map[string]struct{}
	// grpc is true for a client of gRPC, as its user agent says.
	grpc bool
	// The hub's lock protects the fields below, because the hub answers watches from a goroutine of its own.
	endpointCache map[string]*cachedEndpoints
	// acked has the version of each EDS resource that the client last applied or refused. revisions has the revisions of the
	// subsets that were sent, by version.
	acked     map[string]string
	revisions map[string]uint64
	// offered has the newest sizes sent with clusters, inForce the sizes that the client has.
	offered, inForce map[string]poolSize
}

// cachedEndpoints is an EDS resource, and its sources.
type cachedEndpoints struct {
	subset     *table.Subset
	containers *table.Entry[keys.CalledService, *subsetsv1.ServiceContainers]
	resource   resource
}

var errOtherNode = problem.Conflict("node", "differs from the stream's first request", "one node a stream")

// Bounds of what a stream keeps. An Envoy has a dozen types. mostNames and mostNameBytes are those of one type.
const (
	mostTypes     = 32
	mostNames     = 10_000
	mostNameBytes = 1 << 20
)

// CreateWatch implements cache.ConfigWatcher.
func (c *client) CreateWatch(request *cache.Request, subscription cache.Subscription, to chan cache.Response) (func(), error) {
	if err := c.check(request.GetNode(), request.GetTypeUrl(), subscription); err != nil {
		return nil, err
	}
	c.acknowledge(request.GetTypeUrl(), request.GetResponseNonce(), subscription.ReturnedResources(), request.GetErrorDetail())
	return c.hub.watch(c.stateOfTheWorld(request, subscription, to)), nil
}

// CreateDeltaWatch implements cache.ConfigWatcher.
func (c *client) CreateDeltaWatch(request *cache.DeltaRequest, subscription cache.Subscription, to chan cache.DeltaResponse) (func(), error) {
	if err := c.check(request.GetNode(), request.GetTypeUrl(), subscription); err != nil {
		return nil, err
	}
	c.acknowledge(request.GetTypeUrl(), request.GetResponseNonce(), subscription.ReturnedResources(), request.GetErrorDetail())
	return c.hub.watch(c.delta(request, subscription, to)), nil
}

// check identifies the client, and bounds what its stream keeps: types, and of each the names.
func (c *client) check(identity *core.Node, kind string, subscription cache.Subscription) error {
	c.types[kind] = struct{}{}
	if len(c.types) > mostTypes {
		return problem.Conflict("type_url", "is one type too many for this stream", fmt.Sprintf("at most %d types", mostTypes))
	}
	names, bytes := subscription.SubscribedResources(), 0
	for name := range names {
		bytes += len(name)
	}
	if len(names) > mostNames || bytes > mostNameBytes {
		return problem.Conflict("resource_names", "are too many", "at most 10,000 with 1 MiB together")
	}
	return c.identify(identity)
}

func (c *client) identify(identity *core.Node) error {
	n, err := nodeOf(identity)
	if err != nil {
		return err
	}
	if c.node == nil {
		c.node, c.grpc = &n, strings.HasPrefix(identity.GetUserAgentName(), "gRPC")
	}
	if *c.node != n {
		return errOtherNode
	}
	return nil
}

// downstreamServices are the services that the node's container has subsets of.
func (c *client) downstreamServices(tables *table.Tables) (services []string) {
	for _, e := range tables.Subsets.InGroup(c.node.upstream) {
		if e.Key.Instance == c.node.instance {
			services = append(services, e.Key.Downstream)
		}
	}
	return services
}

// resources are the existing resources of a type with these names.
func (c *client) resources(tables *table.Tables, kind string, names []string) (resources []resource) {
	names = slices.Clone(names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "" || len(name) > problem.MostName {
			continue
		}
		if kind == endpointType {
			if r, ok := c.endpoints(tables, name); ok {
				resources = append(resources, r)
			}
		} else if message, ok := namedResource(kind, name); ok {
			r := resource{name: name}
			if clusterMessage, ok := message.(*cluster.Cluster); ok {
				clusterMessage.OutlierDetection = c.hub.settings.OutlierDetection
				c.hub.settings.Clusters.apply(clusterMessage, c.grpc)
				c.setPoolSize(tables, clusterMessage, &r)
			}
			r.body = packAny(message)
			r.version.content = contentOf(r.body.GetValue())
			resources = append(resources, r)
		}
	}
	return resources
}

// endpoints are those of the node's container towards a service; none if the service is unknown, or has no container
// with an address: a client then keeps its endpoints.
func (c *client) endpoints(tables *table.Tables, service string) (resource, bool) {
	// In the opposite order of publication, so that containers are never older than the subset.
	subset, view := tables.Subsets.Get(keys.Subset{Upstream: c.node.upstream, Instance: c.node.instance, Downstream: service})
	containers, _ := tables.Containers.Get(keys.CalledService(service))
	if containers == nil {
		return resource{}, false
	}
	last := c.endpointCache[service]
	if last == nil || last.subset != subset || last.containers != containers {
		last = &cachedEndpoints{subset: subset, containers: containers}
		last.resource = c.build(last, service, topicName(view.Topic))
		c.endpointCache[service] = last
	}
	return last.resource, last.resource.body != nil
}

func (c *client) build(sources *cachedEndpoints, service, topic string) resource {
	r := resource{name: service, version: version{topic: topic}}
	r.version.add(sources.containers.Shard, sources.containers.Offset)
	var subset *subsetsv1.Subset
	if sources.subset != nil {
		subset, r.revision = sources.subset.Publication, sources.subset.Publication.GetRevision()
		r.version.add(sources.subset.Shard, sources.subset.Offset)
	}
	endpoints := assign(subset, sources.containers.Publication, func(instance string, why fault) { c.hub.fault(service, instance, why) })
	if len(endpoints) == 0 {
		return r
	}
	r.body = packAny(assignment(service, endpoints, c.hub.settings.Localities, c.grpc))
	r.version.content = contentOf(r.body.GetValue())
	return r
}

// recordSent returns the versions that the client has after it receives the resources.
func (c *client) recordSent(w *watch, resources []resource) map[string]string {
	next := maps.Clone(w.versions)
	if next == nil {
		next = map[string]string{}
	}
	for _, resource := range resources {
		next[resource.name] = resource.version.String()
		if w.kind == endpointType {
			c.revisions[resource.name] = resource.revision
		}
		if resource.poolSize != nil {
			c.offered[resource.name] = *resource.poolSize
		}
	}
	c.hub.counts.sent.WithLabelValues(short(w.kind)).Inc()
	return next
}

var _ cache.ConfigWatcher = (*client)(nil)
