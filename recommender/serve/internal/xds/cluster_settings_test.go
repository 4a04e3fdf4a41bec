package xds

import (
	"log/slog"
	"strings"
	"testing"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"sluice.dev/serve/internal/table"
)

const (
	overTLS = `"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "sni": "b",
		"common_tls_context": {"alpn_protocols": ["h2"], "validation_context": {"trusted_ca": {"filename": "/etc/ca.pem"}}}}}`
	byHTTP2 = `"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
		"explicit_http_config": {"http2_protocol_options": {"max_concurrent_streams": 100}}}}`
)

func clusterFor(t *testing.T, settings Settings, userAgent, service string) *cluster.Cluster {
	t.Helper()
	hub := New(nil, slog.New(slog.DiscardHandler), settings)
	t.Cleanup(hub.Stop)
	c := &client{hub: hub}
	if err := c.identify(&core.Node{Id: "a~a-1", UserAgentName: userAgent}); err != nil {
		t.Fatal(err)
	}
	message := &cluster.Cluster{}
	if err := c.resources(&table.Tables{}, clusterType, []string{service})[0].body.UnmarshalTo(message); err != nil {
		t.Fatal(err)
	}
	if err := message.ValidateAll(); err != nil {
		t.Error(err)
	}
	return message
}

func TestClustersHaveTheFieldsOfTheirServiceAndOfAll(t *testing.T) {
	settings, err := ParseClusterSettings(`{
		"*": {"connect_timeout": "1s", "common_lb_config": {"healthy_panic_threshold": {"value": 1}}, ` + byHTTP2 + `,
		      "circuit_breakers": {"per_host_thresholds": [{"max_connections": 4}]}},
		"b": {"connect_timeout": "2s", "lb_policy": "LEAST_REQUEST", ` + overTLS + `}}`)
	if err != nil {
		t.Fatal(err)
	}
	b, c := clusterFor(t, Settings{Clusters: settings}, "envoy", "b"), clusterFor(t, Settings{Clusters: settings}, "envoy", "c")
	for _, of := range []*cluster.Cluster{b, c} {
		breakers := of.GetCircuitBreakers()
		if of.GetCommonLbConfig().GetHealthyPanicThreshold().GetValue() != 1 || of.GetTypedExtensionProtocolOptions()[httpOptions] == nil ||
			breakers.GetPerHostThresholds()[0].GetMaxConnections().GetValue() != 4 || len(breakers.GetThresholds()) != 1 {
			t.Error(of)
		}
	}
	if b.GetConnectTimeout().GetSeconds() != 2 || b.GetLbPolicy() != cluster.Cluster_LEAST_REQUEST || b.GetTransportSocket() == nil {
		t.Error(b)
	}
	if c.GetConnectTimeout().GetSeconds() != 1 || c.GetLbPolicy() != cluster.Cluster_ROUND_ROBIN || c.GetTransportSocket() != nil {
		t.Error(c)
	}
	for _, agent := range []string{"gRPC Go", "gRPC C-core linux", "gRPC Java"} {
		of := clusterFor(t, Settings{Clusters: settings}, agent, "b")
		if of.GetTransportSocket() != nil || of.GetCircuitBreakers().GetPerHostThresholds() == nil {
			t.Error(agent, of)
		}
	}
	if got, err := ParseClusterSettings(""); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestWhatIsNoSettingOfClusters(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                           "no JSON object",
		`{"b": {"connect_timeou": 1}}`: "connect_timeou",
		`{"b": {"type": "STATIC"}}`:    "type is not legal",
		`{"b": {"circuit_breakers": {"thresholds": [{"max_connections": 3}]}}}`:                                                             "SLUICE_XDS_POOLS",
		`{"b": {"common_lb_config": {"healthy_panic_threshold": {"value": 101}}}}`:                                                          "Value",
		`{"b": {"lb_policy": "CLUSTER_PROVIDED"}}`:                                                                                          "lb_policy CLUSTER_PROVIDED",
		`{"b": {` + strings.Replace(overTLS, `{"filename": "/etc/ca.pem"}`, `{"file": "/etc/ca.pem"}`, 1) + `}}`:                            `"file"`,
		`{"b": {` + strings.Replace(overTLS, `"trusted_ca": {"filename": "/etc/ca.pem"}`, "", 1) + `}}`:                                     "trusts any server",
		`{"b": {` + strings.Replace(strings.Replace(overTLS, "UpstreamTlsContext", "DownstreamTlsContext", 1), `"sni": "b",`, "", 1) + `}}`: "UpstreamTlsContext",
		`{"b": {` + strings.Replace(overTLS, "UpstreamTlsContext", "NoContext", 1) + `}}`:                                                   "NoContext",
		`{"b": {` + strings.Replace(overTLS, "sockets.tls\"", "sockets.raw_buffer\"", 1) + `}}`:                                             "raw_buffer",
		`{"b": {` + strings.Replace(byHTTP2, `"envoy.ext`, `"other.ext`, 1) + `}}`:                                                          "other.ext",
	} {
		if _, err := ParseClusterSettings(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
