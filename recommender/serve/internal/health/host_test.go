package health

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOnLoopbackANameThatWasMadeToLeadHereIsRefused(t *testing.T) {
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, tt := range []struct {
		listener, host string
		want           int
	}{
		{"127.0.0.1:9464", "127.0.0.1:9464", 200},
		{"127.0.0.1:9464", "localhost:9464", 200},
		{"127.0.0.1:9464", "localhost", 200},
		{"[::1]:9464", "[::1]:9464", 200},
		{"[::1]:9464", "[::1]", 200},
		{"127.0.0.1:9464", "", 200}, // HTTP/1.0
		{"127.0.0.1:9464", "attacker.example:9464", 403},
		{"127.0.0.1:9464", "127.0.0.1.attacker.example", 403},
		{"127.0.0.1:9464", "[attacker.example]", 403},
		{"0.0.0.0:9464", "actuator.sluice.svc:9464", 200},
	} {
		listener, err := net.ResolveTCPAddr("tcp", tt.listener)
		if err != nil {
			t.Fatal(err)
		}
		answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/status", nil)
		request.Host = tt.host
		onLoopback(listener, page).ServeHTTP(answer, request)
		if answer.Code != tt.want {
			t.Errorf("%s at %s: %d, want %d", tt.host, tt.listener, answer.Code, tt.want)
		}
	}
}
