package database_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/serve/internal/database"
)

// serveClickHouse is a response as ClickHouse's: only the password "right" is accepted.
func serveClickHouse(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-ClickHouse-Key") != "right" || r.URL.Query().Get("database") != "calls" {
		w.Header().Set("X-ClickHouse-Exception-Code", "516")
		http.Error(w, "Code: 516. DB::Exception: jobs: Authentication failed", http.StatusForbidden)
	}
}

func insert(t *testing.T, addresses, password, authority string) string {
	t.Helper()
	login := database.Login{User: "jobs", Password: password, Variable: "SLUICE_CLICKHOUSE_USER", Secret: "SLUICE_CLICKHOUSE_PASSWORD_FILE"}
	c, err := database.New(addresses, "calls", login, authority)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Insert(context.Background(), "t", nil); err != nil {
		return err.Error()
	}
	return ""
}

func TestSaysWhichSettingKeepsItOut(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(serveClickHouse))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")
	authority := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stopped := httptest.NewTLSServer(http.HandlerFunc(serveClickHouse))
	stopped.Close()
	for _, c := range []struct{ addresses, password, authority, want string }{
		{server.URL, "right", "", "TLS with " + host + " fails, SLUICE_CLICKHOUSE_CA is not set: "},
		{server.URL, "wrong", authority, host + " refuses SLUICE_CLICKHOUSE_USER=jobs with the password of SLUICE_CLICKHOUSE_PASSWORD_FILE"},
		{server.URL, "right", authority, ""},
		{stopped.URL + "," + server.URL, "right", authority, ""},
	} {
		got := insert(t, c.addresses, c.password, c.authority)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s with %q and authority %q: %q, want %q", c.addresses, c.password, c.authority, got, c.want)
		}
	}
}
