package xds

import (
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"sluice.dev/serve/internal/problem"
)

// node is the upstream container of an xDS client.
type node struct {
	id, upstream, instance string
}

const legalNode = "SERVICE~INSTANCE with names percent-encoded where they have a ~ or %, or metadata with service and instance"

// istioNode is how the ids of Istio's sidecars begin: sidecar~IP~POD.NAMESPACE~DOMAIN.
const istioNode = "sidecar~"

// istioLabels name the service of a pod, the first that it has, as Istio's canonical service does.
var istioLabels = []string{"service.istio.io/canonical-name", "app.kubernetes.io/name", "app"}

// nodeOf maps a node to its container: by `service` and `instance` of its metadata if it has both; a sidecar of Istio by its
// pod's labels and name, which its metadata has; else by its id SERVICE~INSTANCE.
func nodeOf(message *core.Node) (node, error) {
	fields := message.GetMetadata().GetFields()
	n := node{message.GetId(), fields["service"].GetStringValue(), fields["instance"].GetStringValue()}
	if sidecar := strings.HasPrefix(n.id, istioNode) && strings.Count(n.id, "~") == 3; sidecar {
		n.instance = cmp.Or(n.instance, fields["NAME"].GetStringValue())
		for _, label := range istioLabels {
			n.upstream = cmp.Or(n.upstream, fields["LABELS"].GetStructValue().GetFields()[label].GetStringValue())
		}
		if n.upstream == "" || n.instance == "" {
			return node{}, problem.NotLegal("node.metadata", n.id, "NAME and LABELS with "+strings.Join(istioLabels, ", ")+", or service and instance")
		}
	} else if n.upstream == "" || n.instance == "" {
		service, instance, _ := strings.Cut(message.GetId(), "~")
		var bad [2]error
		n.upstream, bad[0] = url.PathUnescape(service)
		n.instance, bad[1] = url.PathUnescape(instance)
		if n.upstream == "" || n.instance == "" || bad != [2]error{} || !utf8.ValidString(n.upstream) || !utf8.ValidString(n.instance) {
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
