package xds

import (
	"encoding/json"
	"fmt"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ClusterSettings are what clusters get besides what follows from the service's name, by service; everyService: of all. A
// service's fields replace those of everyService.
type ClusterSettings map[string]*cluster.Cluster

const (
	everyService = "*"
	tlsSocket    = "envoy.transport_sockets.tls"
	httpOptions  = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
)

// ownFields are the fields of a cluster that Sluice sets, which no setting may have.
var ownFields = []string{"name", "type", "cluster_type", "eds_cluster_config", "load_assignment", "load_balancing_policy"}

// ParseClusterSettings reads a JSON object with a service's name, or * for all, and the fields of
// envoy.config.cluster.v3.Cluster that its cluster gets, in the JSON form of protocol buffers with Envoy's names. Typed
// configurations are UpstreamTlsContext (transport_socket) and HttpProtocolOptions (typed_extension_protocol_options).
func ParseClusterSettings(text string) (ClusterSettings, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var byService map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &byService); err != nil {
		return nil, fmt.Errorf("is no JSON object by service: %w", err)
	}
	settings := ClusterSettings{}
	for service, fields := range byService {
		message := &cluster.Cluster{}
		if err := protojson.Unmarshal(fields, message); err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		if err := checkCluster(message); err != nil {
			return nil, fmt.Errorf("%s: %w", service, err)
		}
		settings[service] = message
	}
	return settings, nil
}

// apply sets a service's fields in its cluster. gRPC clients get no transport socket: they take TLS from their channel's
// credentials, and would refuse the paths of certificates that Envoys have.
func (s ClusterSettings) apply(message *cluster.Cluster, grpc bool) {
	service := message.GetName()
	for _, of := range []string{everyService, service} {
		fields := s[of]
		if fields == nil {
			continue
		}
		for _, field := range setFields(fields) {
			if field.Name() != "circuit_breakers" {
				message.ProtoReflect().Set(field, fields.ProtoReflect().Get(field))
			}
		}
		if limits := fields.GetCircuitBreakers().GetPerHostThresholds(); limits != nil {
			message.CircuitBreakers.PerHostThresholds = limits
		}
	}
	if grpc {
		message.TransportSocket = nil
	}
}

func setFields(message *cluster.Cluster) (fields []protoreflect.FieldDescriptor) {
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fields = append(fields, field)
		return true
	})
	return fields
}
