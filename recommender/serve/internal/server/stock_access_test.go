package server_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/journaltest"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// tlsServer is a server of b's subset of a-1 by TLS; more: its settings besides the certificate.
func tlsServer(t *testing.T, a *authority, more map[string]string) (r *running, d *journaltest.Decider, journal *journaltest.Journal, of map[string]*backend) {
	t.Helper()
	journal = journaltest.New(t, 1)
	d = journal.Decider(t, 0)
	of = backends(t, "b-1", "b-2", "b-3")
	d.Connect([]*subsetsv1.ServiceContainers{containers("b", of, "b-1", "b-2", "b-3")}, weighted(1, of, map[string]uint32{"b-1": 3, "b-2": 1}))
	a.server(t, "server")
	settings := map[string]string{"SLUICE_TLS_CERT": a.path("server.pem"), "SLUICE_TLS_KEY": a.path("server.key")}
	for name, value := range more {
		settings[name] = value
	}
	r = start(t, journal, options{
		lookup: func(name string) string { return settings[name] },
		dial:   []grpc.DialOption{a.trust()},
		every:  20 * time.Millisecond,
	}).ready(t)
	return r, d, journal, of
}

// callWithToken is the result of a stream on a link.
func callWithToken(t *testing.T, link *grpc.ClientConn) error {
	t.Helper()
	stream, err := discovery.NewAggregatedDiscoveryServiceClient(link).StreamAggregatedResources(t.Context())
	if err != nil {
		return err // there is no connection
	}
	_ = stream.Send(&discovery.DiscoveryRequest{Node: &core.Node{Id: "a~a-1"}, TypeUrl: assignments, ResourceNames: []string{"b"}})
	_, err = stream.Recv()
	return err
}

// A published client of gRPC gets its subset by TLS with its certificate. A client whose certificate is not listed gets
// nothing, and neither does one without.
func TestAStockClientIsKnownByItsCertificate(t *testing.T) {
	a := newAuthority(t)
	list := a.path("clients")
	must(t, os.WriteFile(list, []byte("front read\n"), 0o600))
	r, d, journal, of := tlsServer(t, a, map[string]string{"SLUICE_TLS_CLIENT_CA": a.path("authority.pem"), "SLUICE_CLIENTS": list})
	a.client(t, "front")
	client := callingBy(t, r.address, fmt.Sprintf(
		`"channel_creds": [{"type": "tls", "config": {"ca_certificate_file": %q, "certificate_file": %q, "private_key_file": %q}}]`,
		a.path("authority.pem"), a.path("front.pem"), a.path("front.key")))
	client.callMore(t, 50)
	about(t, client.shares(t, of, 2000), map[string]float64{"b-1": 0.75, "b-2": 0.25})
	d.Connect(nil, weighted(2, of, map[string]uint32{"b-3": 1}))
	eventually(t, "b-3 alone is called", func() bool { return client.shares(t, of, 100)["b-3"] == 1 })
	eventually(t, "the deliveries are told", func() bool { return len(journal.Read(t, journal.Reports)) == 2 })
	report := &subsetsv1.SubsetReport{}
	must(t, proto.Unmarshal(journal.Read(t, journal.Reports)[1].Value, report))
	if report.GetBy() != "front" {
		t.Error("who told it is the certificate's name:", report)
	}
	link, err := grpc.NewClient(r.address, a.trust(a.client(t, "bob")))
	must(t, err)
	defer link.Close()
	refused(t, callWithToken(t, link), codes.Unauthenticated)
	refused(t, callWithToken(t, r.link), codes.Unavailable) // no certificate, no connection
	client.callMore(t, 100)
}

// callCredentials is what grpc-go asks for before it reads call_creds of a bootstrap (gRFC A97), at the start of its process.
const callCredentials = "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS"

// A token is any text without white space, so it may be a JSON web token, which stock clients of gRPC send.
func TestAStockClientIsKnownByItsToken(t *testing.T) {
	if os.Getenv(callCredentials) == "" {
		again := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		again.Env = append(os.Environ(), callCredentials+"=true")
		if output, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return
	}
	a := newAuthority(t)
	encoded := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := encoded(`{"alg":"none"}`) + "." + encoded(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(time.Hour).Unix())) + "." + encoded("signature")
	must(t, os.WriteFile(a.path("token"), []byte(token), 0o600))
	tokens := a.path("tokens")
	must(t, os.WriteFile(tokens, []byte(token+" front read\n"+reportToken+" actuator report\n"), 0o600))
	r, d, _, of := tlsServer(t, a, map[string]string{"SLUICE_TOKENS": tokens})
	client := callingBy(t, r.address, fmt.Sprintf(
		`"channel_creds": [{"type": "tls", "config": {"ca_certificate_file": %q}}], "call_creds": [{"type": "jwt_token_file", "config": {"jwt_token_file": %q}}]`,
		a.path("authority.pem"), a.path("token")))
	client.callMore(t, 50)
	about(t, client.shares(t, of, 2000), map[string]float64{"b-1": 0.75, "b-2": 0.25})
	refused(t, callWithToken(t, r.link), codes.Unauthenticated)
	for credential, want := range map[string]codes.Code{reportToken: codes.PermissionDenied, "guess-guess-guess-guess": codes.Unauthenticated} {
		stream, err := discovery.NewAggregatedDiscoveryServiceClient(r.link).StreamAggregatedResources(with(credential))
		must(t, err)
		_, err = stream.Recv()
		refused(t, err, want)
	}

	// A client whose token was removed gets no more changes, and keeps its endpoints.
	must(t, os.WriteFile(tokens, []byte(readToken+" viewer read\n"), 0o600))
	eventually(t, "the token is gone", func() bool {
		_, err := r.client.ListPoolSizes(with(token), &poolsv1.ListPoolSizesRequest{})
		return status.Code(err) == codes.Unauthenticated
	})
	d.Connect(nil, weighted(2, of, map[string]uint32{"b-3": 1}))
	eventually(t, "its stream ends", func() bool { return r.counted(t, "sluice_xds_streams", "") == 0 })
	client.callMore(t, 200)
	about(t, client.shares(t, of, 1000), map[string]float64{"b-1": 0.75, "b-2": 0.25})
	must(t, os.WriteFile(tokens, []byte(token+" front read\n"), 0o600))
	eventually(t, "b-3 alone is called", func() bool { return client.shares(t, of, 100)["b-3"] == 1 })
}
