package xds

import (
	"time"

	"google.golang.org/protobuf/types/known/anypb"

	"sluice.dev/serve/internal/table"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
)

// watch is a client that waits for resources of one type that it does not have. It is answered once; the client's next
// request opens another watch.
type watch struct {
	client *client
	kind   string
	names  []string
	// wildcard: the services that the node's container calls are included.
	wildcard bool
	// known has the versions that the client has, by name. In state of the world, a new stream has only the version of all
	// resources together.
	known    map[string]string
	together string
	// first of its type on the stream.
	first bool
	// patient: a client that is ahead of this server waits for it.
	patient bool
	// send receives all resources, and those of them that the client does not have.
	send func(all, news []resource)
}

// answer sends the resources that are new, if any. The hub's lock is held.
func (w *watch) answer(tables *table.Log) bool {
	if w.patient && w.behind(tables) {
		return false
	}
	all := w.client.resources(tables, w.kind, w.wanted(tables))
	if w.together != "" && same(w.together, together(all).String()) {
		for _, each := range all {
			w.client.holds(w.kind, each)
		}
		return false
	}
	var news []resource
	for _, each := range all {
		if same(w.known[each.name], each.version.String()) {
			w.client.holds(w.kind, each)
		} else {
			news = append(news, each)
		}
	}
	// An Envoy that asks for all listeners waits for a response, also when there are none.
	nothing := w.first && w.wildcard && len(all) == 0
	if len(news) == 0 && !nothing {
		return false
	}
	w.send(all, news)
	return true
}

func (w *watch) wanted(tables *table.Log) []string {
	if !w.wildcard || w.kind == listenerType {
		return w.names
	}
	return append(w.client.calls(tables), w.names...)
}

// behind: the client has seen records that this server has not read, for example from a server that reads faster.
func (w *watch) behind(tables *table.Log) bool {
	view := tables.Subsets.View()
	if w.together != "" && ahead(parseVersion(w.together), view) {
		return true
	}
	for _, known := range w.known {
		if known != "" && ahead(parseVersion(known), view) {
			return true
		}
	}
	return false
}

// world is the watch of a request for the state of the world. A response has all the resources that a client named, because a
// client regards a part as the whole. Nothing is removed: listeners, routes and clusters exist for every name, and endpoints
// that are not sent stay.
func (c *client) world(request *cache.Request, of cache.Subscription, to chan cache.Response) *watch {
	w := c.opened(request.GetTypeUrl(), request.GetResponseNonce(), of)
	if w.first && len(w.known) == 0 {
		w.together = request.GetVersionInfo()
	}
	w.send = func(all, _ []resource) {
		version := together(all).String()
		response := &discovery.DiscoveryResponse{VersionInfo: version, TypeUrl: w.kind}
		for _, each := range all {
			response.Resources = append(response.Resources, each.body)
		}
		to <- &cache.PassthroughResponse{Request: request, DiscoveryResponse: response, ReturnedResources: c.sent(w, all)}
	}
	return w
}

// delta is the watch of an incremental request.
func (c *client) delta(request *cache.DeltaRequest, of cache.Subscription, to chan cache.DeltaResponse) *watch {
	w := c.opened(request.GetTypeUrl(), request.GetResponseNonce(), of)
	w.send = func(all, news []resource) {
		response := &discovery.DeltaDiscoveryResponse{SystemVersionInfo: together(all).String(), TypeUrl: w.kind}
		for _, each := range news {
			response.Resources = append(response.Resources, &discovery.Resource{
				Name: each.name, Version: each.version.String(), Resource: &anypb.Any{TypeUrl: w.kind, Value: each.body.GetValue()},
			})
		}
		to <- &cache.DeltaPassthroughResponse{DeltaRequest: request, DeltaDiscoveryResponse: response, NextVersionMap: c.sent(w, news)}
	}
	return w
}

func (c *client) opened(kind, nonce string, of cache.Subscription) *watch {
	w := &watch{client: c, kind: kind, wildcard: of.IsWildcard(), first: nonce == "", known: of.ReturnedResources(), patient: true}
	for name := range of.SubscribedResources() {
		w.names = append(w.names, name)
	}
	return w
}

// hurry answers a client that is ahead of this server, where the log lost the records that the client has seen. It waits as
// long as for a resume token.
func (h *Hub) hurry(w *watch) {
	time.AfterFunc(patience, func() {
		tables := h.tables.Load()
		if tables == nil || h.ctx.Err() != nil {
			return
		}
		ends, err := h.log.Ends(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, open := h.open[w]; !open || !w.behind(tables) {
			return
		}
		if err != nil || !w.beyond(ends) {
			h.hurry(w) // this server is behind, or that is not known
			return
		}
		w.patient = false
		h.look(w)
	})
}

const patience = 5 * time.Second

// beyond: the client has seen records after the end of the log.
func (w *watch) beyond(ends []int64) bool {
	for _, known := range append([]string{w.together}, values(w.known)...) {
		for shard, offset := range parseVersion(known).places {
			if int(shard) < len(ends) && offset >= ends[shard] {
				return true
			}
		}
	}
	return false
}

func values(of map[string]string) (all []string) {
	for _, each := range of {
		all = append(all, each)
	}
	return all
}
