package xds

import (
	"net/url"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"sluice.dev/serve/internal/problem"
)

// node is the upstream container of an xDS client.
type node struct {
	id, upstream, instance string
}

const legalNode = "SERVICE~INSTANCE with names percent-encoded where they have a ~ or %, or metadata with service and instance"

// nodeOf maps a node to its container: by `service` and `instance` of its metadata if it has both, else by its id
// SERVICE~INSTANCE.
func nodeOf(message *core.Node) (node, error) {
	fields := message.GetMetadata().GetFields()
	n := node{message.GetId(), fields["service"].GetStringValue(), fields["instance"].GetStringValue()}
	if n.upstream == "" || n.instance == "" {
		service, instance, _ := strings.Cut(message.GetId(), "~")
		var bad [2]error
		n.upstream, bad[0] = url.PathUnescape(service)
		n.instance, bad[1] = url.PathUnescape(instance)
		if n.upstream == "" || n.instance == "" || bad != [2]error{} {
			return node{}, problem.NotLegal("node.id", message.GetId(), legalNode)
		}
	}
	if n.id == "" {
		n.id = url.PathEscape(n.upstream) + "~" + url.PathEscape(n.instance)
	}
	if len(n.id) > problem.MostName || len(n.upstream) > problem.MostName || len(n.instance) > problem.MostName {
		return node{}, problem.NotLegal("node.id", message.GetId(), "at most 512 bytes, as each name")
	}
	return n, nil
}
