package xds

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	http "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
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

func checkCluster(message *cluster.Cluster) error {
	set := message.ProtoReflect()
	for _, name := range ownFields {
		if of := set.Descriptor().Fields().ByName(protoreflect.Name(name)); set.Has(of) {
			return fmt.Errorf("%s is not legal: Sluice sets it", name)
		}
	}
	if len(message.GetCircuitBreakers().GetThresholds()) > 0 {
		return errors.New("circuit_breakers.thresholds is not legal: Sluice sets it, by SLUICE_XDS_POOLS; legal: per_host_thresholds")
	}
	whole := proto.CloneOf(message)
	whole.Name = everyService
	if err := whole.ValidateAll(); err != nil {
		return err
	}
	if policy := message.GetLbPolicy(); policy == cluster.Cluster_CLUSTER_PROVIDED || policy == cluster.Cluster_LOAD_BALANCING_POLICY_CONFIG {
		return fmt.Errorf("lb_policy %s is not legal; legal: ROUND_ROBIN, LEAST_REQUEST, RANDOM, RING_HASH, MAGLEV", policy)
	}
	for name, options := range message.GetTypedExtensionProtocolOptions() {
		if name != httpOptions {
			return fmt.Errorf("typed_extension_protocol_options %q is not legal; legal: %s", name, httpOptions)
		}
		if err := checkTyped(options, &http.HttpProtocolOptions{}); err != nil {
			return fmt.Errorf("typed_extension_protocol_options: %w", err)
		}
	}
	return checkTLS(message)
}

func checkTLS(message *cluster.Cluster) error {
	socket := message.GetTransportSocket()
	if socket == nil {
		return nil
	}
	if socket.GetName() != tlsSocket {
		return fmt.Errorf("transport_socket.name %q is not legal; legal: %s", socket.GetName(), tlsSocket)
	}
	context := &tls.UpstreamTlsContext{}
	if err := checkTyped(socket.GetTypedConfig(), context); err != nil {
		return fmt.Errorf("transport_socket.typed_config: %w", err)
	}
	if !verifies(context.GetCommonTlsContext()) {
		return errors.New("transport_socket.typed_config trusts any server: common_tls_context.validation_context.trusted_ca is missing")
	}
	return nil
}

// verifies is true if an Envoy verifies the server's certificate, or is told in so many words that it need not.
func verifies(common *tls.CommonTlsContext) bool {
	context := common.GetValidationContext()
	return context.GetTrustedCa() != nil || context.GetSystemRootCerts() != nil ||
		common.GetValidationContextSdsSecretConfig() != nil || common.GetCombinedValidationContext() != nil ||
		context.GetTrustChainVerification() == tls.CertificateValidationContext_ACCEPT_UNTRUSTED
}

// checkTyped reads a typed configuration into a message of the only legal type.
func checkTyped(from *anypb.Any, into interface {
	proto.Message
	ValidateAll() error
}) error {
	if err := from.UnmarshalTo(into); err != nil {
		return fmt.Errorf("@type %q is not legal; legal: %s%s", from.GetTypeUrl(), typePrefix, into.ProtoReflect().Descriptor().FullName())
	}
	return into.ValidateAll()
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
