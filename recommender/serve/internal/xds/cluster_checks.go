package xds

import (
	"errors"
	"fmt"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	http "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// checkCluster returns why a service's fields are not legal.
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
