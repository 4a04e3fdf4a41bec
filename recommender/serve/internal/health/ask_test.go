package health

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func asking(address string) error {
	return Ask(func(name string) string { return map[string]string{"SLUICE_HEALTH": address}[name] })
}

func TestAskReturnsTheCausesOfAProcessThatIsNotReady(t *testing.T) {
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("journal: no answer\n"))
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	if err := asking(address); err == nil || err.Error() != "journal: no answer" {
		t.Errorf("not ready: %v", err)
	}
	status = http.StatusOK
	_, port, _ := strings.Cut(address, ":")
	for _, legal := range []string{address, "0.0.0.0:" + port, ":" + port} {
		if err := asking(legal); err != nil {
			t.Errorf("%s: %v", legal, err)
		}
	}
}

func TestAskRefusesAnAddressWithoutAPort(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1"} {
		if err := asking(address); err == nil || !strings.Contains(err.Error(), "legal: HOST:PORT") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
