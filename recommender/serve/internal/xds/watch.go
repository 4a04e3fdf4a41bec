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
	// wildcard is true if the watch includes the services that the node's container calls.
	wildcard bool
	// versions has the versions that the client has, by name. In state of the world, a new stream has only the version of all
	// resources together.
	versions map[string]string
	combined string
	// firstOfType is true for the first watch of its type on the stream.
	firstOfType bool
	// waits is true while a client that is ahead of this server waits for it.
	waits bool
	// send receives all resources, and those of them that the client does not have.
	send func(all, news []resource)
}

// answer sends the resources that are new, if any. The hub's lock is held.
func (w *watch) answer(tables *table.Tables) bool {
	if w.waits && w.behind(tables) {
		return false
	}
	all := w.client.resources(tables, w.kind, w.wantedNames(tables))
	if w.combined != "" && sameContent(w.combined, combinedVersion(all).String()) {
		for _, item := range all {
			w.client.recordHeld(w.kind, item)
		}
		return false
	}
	var news []resource
	for _, item := range all {
		if sameContent(w.versions[item.name], item.version.String()) {
			w.client.recordHeld(w.kind, item)
		} else {
			news = append(news, item)
		}
	}
	// An Envoy that asks for all listeners waits for a response, also when there are none.
	nothing := w.firstOfType && w.wildcard && len(all) == 0
	if len(news) == 0 && !nothing {
		return false
	}
	w.send(all, news)
	return true
}

func (w *watch) wantedNames(tables *table.Tables) []string {
	if !w.wildcard || w.kind == listenerType {
		return w.names
	}
	return append(w.client.downstreamServices(tables), w.names...)
}

// behind is true if the client has records that this server has not read, for example from a server that reads faster.
func (w *watch) behind(tables *table.Tables) bool {
	view := tables.Subsets.View()
	if w.combined != "" && ahead(parseVersion(w.combined), view) {
		return true
	}
	for _, text := range w.versions {
		if text != "" && ahead(parseVersion(text), view) {
			return true
		}
	}
	return false
}

// stateOfTheWorld is the watch of a request for the state of the world. A response has all resources that the client named,
// because the client regards a part as complete. The server removes nothing: listeners, routes and clusters exist for every
// name, and unsent endpoints stay.
func (c *client) stateOfTheWorld(request *cache.Request, subscription cache.Subscription, to chan cache.Response) *watch {
	w := c.newWatch(request.GetTypeUrl(), request.GetResponseNonce(), subscription)
	if w.firstOfType && len(w.versions) == 0 {
		w.combined = request.GetVersionInfo()
	}
	w.send = func(all, _ []resource) {
		version := combinedVersion(all).String()
		response := &discovery.DiscoveryResponse{VersionInfo: version, TypeUrl: w.kind}
		for _, item := range all {
			response.Resources = append(response.Resources, item.body)
		}
		to <- &cache.PassthroughResponse{Request: request, DiscoveryResponse: response, ReturnedResources: c.recordSent(w, all)}
	}
	return w
}

// delta is the watch of an incremental request.
func (c *client) delta(request *cache.DeltaRequest, subscription cache.Subscription, to chan cache.DeltaResponse) *watch {
	w := c.newWatch(request.GetTypeUrl(), request.GetResponseNonce(), subscription)
	w.send = func(all, news []resource) {
		response := &discovery.DeltaDiscoveryResponse{SystemVersionInfo: combinedVersion(all).String(), TypeUrl: w.kind}
		for _, item := range news {
			response.Resources = append(response.Resources, &discovery.Resource{
				Name: item.name, Version: item.version.String(), Resource: &anypb.Any{TypeUrl: w.kind, Value: item.body.GetValue()},
			})
		}
		to <- &cache.DeltaPassthroughResponse{DeltaRequest: request, DeltaDiscoveryResponse: response, NextVersionMap: c.recordSent(w, news)}
	}
	return w
}

func (c *client) newWatch(kind, nonce string, subscription cache.Subscription) *watch {
	w := &watch{client: c, kind: kind, wildcard: subscription.IsWildcard(), firstOfType: nonce == "", versions: subscription.ReturnedResources(), waits: true}
	for name := range subscription.SubscribedResources() {
		w.names = append(w.names, name)
	}
	return w
}

// waitBehind answers a client that is ahead of this server, if the journal lost the records that the client has. It waits as
// long as for a resume token.
func (h *Hub) waitBehind(w *watch) {
	time.AfterFunc(patience, func() {
		tables := h.tables.Load()
		if tables == nil || h.ctx.Err() != nil {
			return
		}
		ends, err := h.journal.Ends(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, open := h.open[w]; !open || !w.behind(tables) {
			return
		}
		if err != nil || !w.pastEnd(ends) {
			h.waitBehind(w) // this server is behind, or the end is unknown
			return
		}
		w.waits = false
		h.tryAnswer(w)
	})
}

const patience = 5 * time.Second

// pastEnd is true if the client has records after the end of the journal.
func (w *watch) pastEnd(ends []int64) bool {
	for _, text := range append([]string{w.combined}, values(w.versions)...) {
		for shard, offset := range parseVersion(text).places {
			if int(shard) < len(ends) && offset >= ends[shard] {
				return true
			}
		}
	}
	return false
}

func values(versions map[string]string) (texts []string) {
	for _, value := range versions {
		texts = append(texts, value)
	}
	return texts
}
