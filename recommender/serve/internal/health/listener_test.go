package health

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	grpchealth "google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ address, expose, want, fault string }{
		{"", "", "", ""},
		{"127.0.0.1:9464", "", "127.0.0.1:9464", ""},
		{"localhost:9464", "false", "localhost:9464", ""},
		{"[::1]:9464", "", "[::1]:9464", ""},
		{"0.0.0.0:9464", "true", "0.0.0.0:9464", ""},
		{":9464", "true", ":9464", ""},
		{"0.0.0.0:9464", "", "", "SLUICE_HEALTH_EXPOSE=true makes"},
		{":9464", "false", "", "SLUICE_HEALTH_EXPOSE=true makes"},
		{"9464", "true", "", "HOST:PORT"},
		{"127.0.0.1:9464", "yes", "", `SLUICE_HEALTH_EXPOSE "yes" is not legal; legal: true, false`},
	} {
		variables := map[string]string{"SLUICE_HEALTH": tt.address, "SLUICE_HEALTH_EXPOSE": tt.expose}
		got, err := Address(func(name string) string { return variables[name] })
		if got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%q, %q: %q, %v", tt.address, tt.expose, got, err)
		}
	}
}

// serve returns the address of pages.
func serve(t *testing.T, pages Pages) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	stop, err := pages.Serve(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return address
}

func TestPagesOnlyRead(t *testing.T) {
	var ready atomic.Bool
	address := serve(t, Pages{
		Live: func() []string { return nil },
		Ready: All(func() []string { return nil }, func() []string {
			if ready.Load() {
				return nil
			}
			return []string{"journal: 7 offsets to go", "draining"}
		}),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
	})
	expect := func(method, path string, code int, body string) {
		t.Helper()
		request, _ := http.NewRequest(method, "http://"+address+path, strings.NewReader("x"))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		got, _ := io.ReadAll(response.Body)
		if response.StatusCode != code || body != "" && string(got) != body {
			t.Errorf("%s %s: %d %q", method, path, response.StatusCode, got)
		}
	}
	expect("GET", "/livez", 200, "ok\n")
	expect("GET", "/readyz", 503, "journal: 7 offsets to go\ndraining\n")
	ready.Store(true)
	expect("GET", "/readyz", 200, "ok\n")
	expect("GET", "/metrics", 200, "up 1\n")
	expect("GET", "/healthz", 404, "")
	expect("GET", "/debug/pprof/", 404, "")
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			expect(method, path, 405, "")
		}
	}
}

func TestGRPCHealthFollowsTheServingStateWithoutTLS(t *testing.T) {
	state := grpchealth.NewServer()
	state.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
	none := func() []string { return nil }
	address := serve(t, Pages{Live: none, Ready: none, Metrics: http.NotFoundHandler(), GRPC: state})
	link, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	watch, err := healthv1.NewHealthClient(link).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		watched, err := watch.Recv()
		if err != nil || watched.GetStatus() != want {
			t.Fatal(watched, err)
		}
		checked, err := healthv1.NewHealthClient(link).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || checked.GetStatus() != want {
			t.Error(checked, err)
		}
	}
	expect(healthv1.HealthCheckResponse_NOT_SERVING)
	state.SetServingStatus("", healthv1.HealthCheckResponse_SERVING)
	expect(healthv1.HealthCheckResponse_SERVING)
	state.Shutdown()
	expect(healthv1.HealthCheckResponse_NOT_SERVING)
}

func TestATakenAddressIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	if _, err := (Pages{}).Serve(address); err == nil || !strings.Contains(err.Error(), "listen on SLUICE_HEALTH="+address+": bind: ") {
		t.Error(err)
	}
}

func TestALoopThatStandsStillIsNamed(t *testing.T) {
	loop := NewLoop("journal", time.Minute)
	if causes := loop.Causes(); causes != nil {
		t.Error(causes)
	}
	loop.start = loop.start.Add(-61 * time.Second) // the last turn was a minute and a second ago
	if causes := loop.Causes(); len(causes) != 1 || causes[0] != "journal: the last turn began 1m1s ago; limit 1m0s" {
		t.Error(causes)
	}
	loop.Turn()
	if causes := loop.Causes(); causes != nil {
		t.Error(causes)
	}
	(*Loop)(nil).Turn()
}
