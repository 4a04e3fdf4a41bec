package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

func lookup(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestWrongUse(t *testing.T) {
	folder := t.TempDir()
	tokens := filepath.Join(folder, "tokens")
	if err := os.WriteFile(tokens, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		arguments   []string
		environment map[string]string
		code        int
		want        string
	}{
		{"an unknown flag", []string{"--port=1"}, nil, 2, "--help"},
		{"an argument", []string{"now"}, nil, 2, `unexpected argument "now"`},
		{"no address", nil, map[string]string{"SLUICE_RECOMMENDER": "here"}, 2, "HOST:PORT"},
		{"open to all", nil, map[string]string{"SLUICE_RECOMMENDER": "0.0.0.0:50051"}, 2, "SLUICE_TLS_CERT SLUICE_TLS_KEY SLUICE_TOKENS"},
		{"no shards", nil, map[string]string{"SLUICE_SHARDS": "0"}, 2, "1 to 256"},
		{"no properties", nil, map[string]string{"SLUICE_KAFKA_PROPERTIES": "/none"}, 2, "SLUICE_KAFKA_PROPERTIES: open /none"},
		{"no broker", nil, map[string]string{"SLUICE_KAFKA": "a:1,b"}, 2, `"b"`},
		{"no database", nil, map[string]string{"SLUICE_CLICKHOUSE": "127.0.0.1:8123"}, 2, "http://HOST:PORT"},
		{"health for all", nil, map[string]string{"SLUICE_HEALTH": "0.0.0.0:9464"}, 2, "SLUICE_HEALTH_EXPOSE=true"},
		{"health for all, on purpose", []string{"--check"}, map[string]string{"SLUICE_HEALTH": "0.0.0.0:9464", "SLUICE_HEALTH_EXPOSE": "true"}, 0, "valid"},
		{"open to all, on purpose", []string{"--check"}, map[string]string{"SLUICE_RECOMMENDER": "0.0.0.0:50051", "SLUICE_INSECURE": "true"}, 0, "without TLS"},
		{"insecure, perhaps", nil, map[string]string{"SLUICE_INSECURE": "yes"}, 2, "legal: true, false"},
		{"a long drain", nil, map[string]string{"SLUICE_DRAIN": "301s"}, 2, "legal: 0s to 300s"},
		{"a drain without a unit", nil, map[string]string{"SLUICE_DRAIN": "5"}, 2, "legal: 0s to 300s"},
		{"no connection", nil, map[string]string{"SLUICE_CONNECTIONS": "0"}, 2, "legal: 1 to 1000000"},
		{"no drain", []string{"--check"}, map[string]string{"SLUICE_DRAIN": "0s"}, 0, "valid"},
		{"a password in the environment", nil, map[string]string{"SLUICE_CLICKHOUSE_READER_PASSWORD": "hush"}, 2, "legal: SLUICE_CLICKHOUSE_READER_PASSWORD_FILE"},
		{"the writer's password in the environment", []string{"records"}, map[string]string{"SLUICE_CLICKHOUSE_PASSWORD": "hush"}, 2, "legal: SLUICE_CLICKHOUSE_PASSWORD_FILE"},
		{"no file of a password", nil, map[string]string{"SLUICE_CLICKHOUSE_PASSWORD_FILE": "none"}, 2, "SLUICE_CLICKHOUSE_PASSWORD_FILE: open none"},
		{"no file of settings", nil, map[string]string{"SLUICE_SETTINGS": "none"}, 2, "SLUICE_SETTINGS: open none"},
		{"external metrics without TLS", nil, map[string]string{"SLUICE_EXTERNAL_METRICS": "127.0.0.1:6443"}, 2, "SLUICE_TLS_CERT"},
		{"no pool", nil, map[string]string{"SLUICE_XDS_POOLS": "cart/server"}, 2, "SLUICE_XDS_POOLS"},
		{"no outlier detection", nil, map[string]string{"SLUICE_XDS_OUTLIER_DETECTION": `{"max_ejection_percent": 101}`}, 2, "SLUICE_XDS_OUTLIER_DETECTION"},
		{"no field of clusters", nil, map[string]string{"SLUICE_XDS_CLUSTERS": `{"*": {"type": "EDS"}}`}, 2, "SLUICE_XDS_CLUSTERS"},
		{"no localities", nil, map[string]string{"SLUICE_XDS_LOCALITIES": "region"}, 2, "SLUICE_XDS_LOCALITIES"},
		{"outlier detection", []string{"--check"}, map[string]string{"SLUICE_XDS_OUTLIER_DETECTION": `{"consecutive_5xx": 5}`}, 0, "valid"},
		{"half of TLS", nil, map[string]string{"SLUICE_TLS_CERT": "x"}, 2, "together only"},
		{"certificates without TLS", nil, map[string]string{"SLUICE_TLS_CLIENT_CA": "x"}, 2, "SLUICE_TLS_CERT"},
		{"clients without authority", nil, map[string]string{"SLUICE_CLIENTS": "x"}, 2, "SLUICE_TLS_CLIENT_CA"},
		{"a short token", nil, map[string]string{"SLUICE_TOKENS": tokens}, 2, "16 or more"},
		{"no tokens", nil, map[string]string{"SLUICE_TOKENS": filepath.Join(folder, "none")}, 2, "read SLUICE_TOKENS="},
		{"all is well", []string{"--check"}, nil, 0, "1 shards on 127.0.0.1:9092"},
		{"version", []string{"--version"}, nil, 0, "sluice-server"},
		{"help", []string{"--help"}, nil, 0, "SLUICE_TLS_CLIENT_CA"},
	} {
		var out bytes.Buffer
		if code := run(tt.arguments, lookup(tt.environment), &out, &out); code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %d, %s", tt.name, code, out.String())
		}
		if strings.Contains(out.String(), "hush") {
			t.Errorf("%s: a password was printed: %s", tt.name, out.String())
		}
	}
}

func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestAProcessFromItsStartToItsEnd(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(journaltest.Server("cart"), 1, 8))
	address, pages := free(t), free(t)
	s, err := settingsOf(lookup(map[string]string{
		"SLUICE_RECOMMENDER": address, "SLUICE_HEALTH": pages, "SLUICE_KAFKA": journal.Brokers[0],
		"SLUICE_TOPIC_PREFIX": strings.TrimSuffix(journal.Decisions, "decisions"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, s, io.Discard) }()
	link, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	within, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	watch, err := healthv1.NewHealthClient(link).Watch(within, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	for status := healthv1.HealthCheckResponse_UNKNOWN; err == nil && status != healthv1.HealthCheckResponse_SERVING; {
		var answer *healthv1.HealthCheckResponse
		if answer, err = watch.Recv(); err == nil {
			status = answer.GetStatus()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poolsv1.NewPoolSizeServiceClient(link).GetPoolSize(within, &poolsv1.GetPoolSizeRequest{}); err == nil {
		t.Error("an empty request was answered")
	}
	page, err := http.Get("http://" + pages + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(page.Body)
	page.Body.Close()
	for _, line := range []string{
		`sluice_server_calls_total{code="InvalidArgument",method="GetPoolSize"} 1`, "sluice_server_watchers 0", "sluice_server_ready 1",
		"sluice_server_log_lag_records 0", "sluice_server_schema_current 0", "sluice_server_insecure 0", "sluice_server_newest_decision_age_seconds ", `sluice_server_lease_left_seconds{shard="0"} `,
	} {
		if !strings.Contains(string(body), line) {
			t.Errorf("%s is not in the metrics", line)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
