package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSettingsOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings")
	text := "# of the chart\n\n SLUICE_SHARDS = 4 \r\nSLUICE_KAFKA=a:1,b:2\nSLUICE_TOPIC_PREFIX=\"x\"\nSLUICE_DRAIN=10s\nOTEL_METRIC_EXPORT_INTERVAL=7000\n"
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := withFile(lookup(map[string]string{"SLUICE_SETTINGS": path, "SLUICE_KAFKA": "c:3", "SLUICE_DRAIN": ""}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"SLUICE_SHARDS": "4", "SLUICE_KAFKA": "c:3", "SLUICE_TOPIC_PREFIX": `"x"`, "SLUICE_DRAIN": "10s", "SLUICE_CLICKHOUSE": "",
	} {
		if got(name) != want {
			t.Errorf("%s=%q, want %q", name, got(name), want)
		}
	}
	if set := os.Getenv("OTEL_METRIC_EXPORT_INTERVAL"); set != "7000" {
		t.Errorf("the exporter gets %q", set)
	}
	var out bytes.Buffer
	if code := run([]string{"--check"}, lookup(map[string]string{"SLUICE_SETTINGS": path}), &out, &out); code != 0 ||
		!strings.Contains(out.String(), "4 shards on a:1,b:2") {
		t.Errorf("%d: %s", code, &out)
	}
}

func TestFaultsOfASettingsFile(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"SLUICE_SHARDS=1\nSLUICE_SHARD=2\n", `line 2: "SLUICE_SHARD" is not legal`},
		{"SLUICE_METRICS=127.0.0.1:1\n", `line 1: "SLUICE_METRICS" is not legal`},
		{"GOMEMLIMIT=1GiB\n", `line 1: "GOMEMLIMIT" is not legal`},
		{"SLUICE_SETTINGS=other\n", `line 1: "SLUICE_SETTINGS" is not legal`},
		{"SLUICE_CLICKHOUSE_PASSWORD=hush\n", `line 1: "SLUICE_CLICKHOUSE_PASSWORD" is not legal`},
		{"\n\nhush\n", "line 3: want NAME=VALUE"},
		{"export SLUICE_SHARDS=1\n", `line 1: "export SLUICE_SHARDS" is not legal`},
		{"SLUICE_SHARDS=1\nSLUICE_SHARDS=1\n", "line 2: SLUICE_SHARDS is in an earlier line too"},
	} {
		if _, err := parseSettings(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestEveryNameIsLegalInAFile(t *testing.T) {
	for _, name := range []string{"SLUICE_RECOMMENDER", "SLUICE_HEALTH", "SLUICE_HEALTH_EXPOSE", "SLUICE_CLICKHOUSE_PASSWORD_FILE", "SLUICE_TLS_KEY"} {
		if _, err := parseSettings(name + "=x"); err != nil {
			t.Error(err)
		}
	}
}
