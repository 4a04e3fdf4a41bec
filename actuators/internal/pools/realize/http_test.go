package realize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/tests/realizetest"
	"sluice.dev/actuators/internal/web"
)

// poolServer has the demo shop's interface: GET and PUT /pools/NAME with {"size": n}.
type poolServer struct {
	mu      sync.Mutex
	size    uint32
	none    string // what is answered instead of the size
	broken  bool
	stalled bool
	// settleAfter is the number of readings that still see the old size after a write.
	settleAfter int
	pending     uint32
	deaf        bool // answers 200 and changes nothing
	headers     http.Header
	use         string // what is answered besides
	done        chan struct{}
}

func startPool(t *testing.T) (*poolServer, *httptest.Server) {
	p := &poolServer{size: 64, done: make(chan struct{})}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(p.done) })
	return p, s
}

func (p *poolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.headers = r.Header.Clone()
	if p.stalled {
		p.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-p.done:
		}
		p.mu.Lock()
		return
	}
	if p.broken {
		http.Error(w, `{"error": "pool cart.threads: out of order"}`, http.StatusInternalServerError)
		return
	}
	if r.Method == http.MethodPut {
		var body struct{ Size *uint32 }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Size == nil {
			http.Error(w, `{"error": "size: want 1..256"}`, http.StatusBadRequest)
			return
		}
		p.none = ""
		switch {
		case p.deaf:
		case p.settleAfter > 0:
			p.pending = *body.Size
		default:
			p.size = *body.Size
		}
	} else if p.pending != 0 {
		if p.settleAfter--; p.settleAfter <= 0 {
			p.size, p.pending = p.pending, 0
		}
	}
	size := fmt.Sprint(p.size)
	if p.none != "" {
		size = p.none
	}
	fmt.Fprintf(w, `{"name": "cart.threads", "size": %s, "min": 1, "max": 256%s}`, size, p.use)
}

func (p *poolServer) with(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func httpConfig(server *httptest.Server) realize.HTTPConfig {
	c := realize.DefaultHTTP()
	c.Read.URL = server.URL + "/pools/cart.threads"
	c.Write.URL = server.URL + "/pools/cart.threads"
	return c
}

func open(t *testing.T, config realize.HTTPConfig) *realize.HTTP {
	t.Helper()
	h, err := realize.NewHTTP(config)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHTTPContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		p, server := startPool(t)
		return realizetest.Fixture{
			Realizer: open(t, httpConfig(server)),
			Size:     func() (size uint32) { p.with(func() { size = p.size }); return },
			SetSize:  func(size uint32) { p.with(func() { p.size = size }) },
			SetUse: func(use pool.Use) {
				p.with(func() {
					p.use = ""
					for name, n := range map[string]*uint32{"busy": use.Busy, "waiting": use.Waiting} {
						if n != nil {
							p.use += fmt.Sprintf(`, "%s": %d`, name, *n)
						}
					}
				})
			},
			ReportsWaiting: true,
			Break:          func() { p.with(func() { p.broken = true }) },
			Stall:          func() { p.with(func() { p.stalled = true }) },
		}
	})
}

// A target's other values under those names are not counts; where the file has other pointers, these are read.
func TestAFigureThatIsNoCountIsAbsent(t *testing.T) {
	p, server := startPool(t)
	config := httpConfig(server)
	p.use = `, "busy": true, "waiting": "none", "in_use": 7, "queue": {"depth": 2.5}`
	if size, use, err := open(t, config).Read(t.Context()); err != nil || size != pool.Of(64) || use != (pool.Use{}) {
		t.Errorf("Read() = %v, %v, %v, want 64 and nothing else", size, use, err)
	}
	config.Read.Busy, config.Read.Waiting = "/in_use", "/queue/depth"
	if _, use, err := open(t, config).Read(t.Context()); err != nil || use.String() != "7 busy" {
		t.Errorf("Read() = %v, %v, want 7 busy", use, err)
	}
	config.Read.Busy = ""
	if _, use, err := open(t, config).Read(t.Context()); err != nil || use != (pool.Use{}) {
		t.Errorf("Read() = %v, %v, want nothing, as the file says", use, err)
	}
}

// Where a number means that the pool has no limit, as 0 does for Go's database/sql, it is no size and no error.
func TestHTTPUnbounded(t *testing.T) {
	for _, none := range []int64{0, -1} {
		realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
			p, server := startPool(t)
			config := httpConfig(server)
			config.Read.Unbounded = &none
			return realizetest.Fixture{
				Realizer: open(t, config),
				Size:     func() (size uint32) { p.with(func() { size = p.size }); return },
				SetSize: func(size uint32) {
					p.with(func() {
						if p.size = size; size == 0 {
							p.none = "null"
						}
					})
				},
				Unbound: func() { p.with(func() { p.none = fmt.Sprint(none) }) },
				Break:   func() { p.with(func() { p.broken = true }) },
				Stall:   func() { p.with(func() { p.stalled = true }) },
			}
		})
	}
}

func TestHTTPReadErrors(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		answer  string
		pointer string
		want    string
	}{
		{"not JSON", 200, "<html>", "/size", `the response is not JSON: "<html>"`},
		{"empty answer", 200, "", "/size", `the response is not JSON: ""`},
		{"key missing", 200, `{"sizes": 3}`, "/size", `nothing at "/size"`},
		{"null is not 0", 200, `{"size": null}`, "/size", `no number at "/size"`},
		{"text is no size", 200, `{"size": "12"}`, "/size", `no number at "/size"`},
		{"whole object", 200, `{"size": 12}`, "", `no number at ""`},
		{"fraction", 200, `{"size": 12.5}`, "/size", `has 12.5 at "/size": want a whole number from 1`},
		{"negative", 200, `{"size": -1}`, "/size", `has -1 at "/size"`},
		{"zero", 200, `{"size": 0}`, "/size", `has 0 at "/size"`},
		{"beyond 32 bits", 200, `{"size": 4294967296}`, "/size", `has 4294967296`},
		{"server error says why", 500, `{"error": "no such pool"}`, "/size", `status 500, want 200: "{\"error\": \"no such pool\"}"`},
		{"another success", 204, "", "/size", "status 204, want 200"},
		{"redirect is not followed", 302, "", "/size", "status 302, want 200"},
		{"too long", 200, `{"size": 12, "pad": "` + strings.Repeat("x", 2<<20) + `"}`, "/size", "longer than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.answer)
			}))
			defer server.Close()
			config := httpConfig(server)
			config.Read.Pointer = tt.pointer
			got, _, err := open(t, config).Read(context.Background())
			if got != (pool.Size{}) || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read() = %v, %v\nwant no size and an error with: %s", got, err, tt.want)
			}
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("the error has %d characters, want an excerpt", len(err.Error()))
			}
		})
	}
}

func TestHTTPReadPointer(t *testing.T) {
	tests := []struct{ answer, pointer string }{
		{`12`, ""},
		{`{"value": {"maxThreads": 12}}`, "/value/maxThreads"},
		{`{"pools": [{"size": 3}, {"size": 12}]}`, "/pools/1/size"},
		{`{"a/b": {"m~n": 12}}`, "/a~1b/m~0n"},
	}
	for _, tt := range tests {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, tt.answer) }))
		config := httpConfig(server)
		config.Read.Pointer = tt.pointer
		if got, _, err := open(t, config).Read(context.Background()); err != nil || got != pool.Of(12) {
			t.Errorf("%s at %q: %v, %v, want 12", tt.answer, tt.pointer, got, err)
		}
		server.Close()
	}
}

func TestHTTPWriteSendsTheConfiguredRequest(t *testing.T) {
	type sent struct{ method, path, body, contentType, token string }
	got := make(chan sent, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- sent{r.Method, r.URL.RequestURI(), string(body), r.Header.Get("Content-Type"), r.Header.Get("Authorization")}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	config := httpConfig(server)
	config.Headers = map[string]string{"Authorization": "Bearer t0ken", "Content-Type": "application/merge-patch+json"}
	config.Write.JSONWrite = web.JSONWrite{Method: "PATCH", URL: server.URL + "/pool?max={{.Size}}", Body: `{"max": {{.Size}}}`, Status: 202}
	if err := open(t, config).Write(context.Background(), 12); err != nil {
		t.Fatal(err)
	}
	want := sent{"PATCH", "/pool?max=12", `{"max": 12}`, "application/merge-patch+json", "Bearer t0ken"}
	if s := <-got; s != want {
		t.Errorf("sent %+v\nwant %+v", s, want)
	}
}

// A target that responds with 200 and changes nothing shows in the read-back only.
func TestHTTPWriteTakenIsNotSizeInForce(t *testing.T) {
	p, server := startPool(t)
	h := open(t, httpConfig(server))
	p.with(func() { p.deaf = true })
	if err := h.Write(context.Background(), 12); err != nil {
		t.Fatal(err)
	}
	if got, _, err := h.Read(context.Background()); err != nil || got != pool.Of(64) {
		t.Errorf("Read() = %v, %v, want 64", got, err)
	}
}

// The response may show success where the status does not: Jolokia's status is 200 for a refusal.
func TestHTTPSuccessByTheAnswer(t *testing.T) {
	for _, tt := range []struct{ answer, pointer, equals, want string }{
		{`{"status": 200}`, "/status", "200", ""},
		{`{"ok": true}`, "/ok", "true", ""},
		{`{"done": {"state": "set"}}`, "/done/state", "set", ""},
		{`{"status": 400, "error": "want 20..256"}`, "/status", "200", `has "400" at "/status", want "200"`},
		{`{"state": "set"}`, "/status", "200", `nothing at "/status"`},
		{`taken`, "/status", "200", "not JSON"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, tt.answer) }))
		config := httpConfig(server)
		config.Write.Pointer, config.Write.Equals = tt.pointer, tt.equals
		err := open(t, config).Write(t.Context(), 12)
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.answer, err, tt.want)
		}
		server.Close()
	}
}

func TestHTTPReadsConnectionsBeyondTheLimit(t *testing.T) {
	for answer, want := range map[string]uint32{`{"size": 12, "open": 17}`: 17, `{"size": 12, "open": 0}`: 12} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) }))
		config := httpConfig(server)
		config.Read.InForce = "/open"
		if got, _, err := open(t, config).Read(t.Context()); err != nil || got != pool.Of(want) {
			t.Errorf("%s: %v, %v, want %d", answer, got, err, want)
		}
		server.Close()
	}
}

func TestHTTPSettlesLate(t *testing.T) {
	p, server := startPool(t)
	h := open(t, httpConfig(server))
	p.with(func() { p.settleAfter = 3 })
	if err := h.Write(context.Background(), 12); err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint32{64, 64, 12, 12} {
		if got, _, err := h.Read(context.Background()); err != nil || got != pool.Of(want) {
			t.Errorf("Read() = %v, %v, want %d", got, err, want)
		}
	}
}

func TestHTTPTimeout(t *testing.T) {
	p, server := startPool(t)
	config := httpConfig(server)
	config.Timeout = 50 * time.Millisecond
	h := open(t, config)
	p.with(func() { p.stalled = true })
	began := time.Now()
	if got, _, err := h.Read(context.Background()); err == nil || got != (pool.Size{}) {
		t.Errorf("Read() = %v, %v, want an error", got, err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s with a timeout of 50 ms", took)
	}
}

func TestHTTPWriteErrorSaysWhy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": "size: 12: want 20..256"}`, http.StatusBadRequest)
	}))
	defer server.Close()
	err := open(t, httpConfig(server)).Write(context.Background(), 12)
	if err == nil || !strings.Contains(err.Error(), "write size 12: PUT ") || !strings.Contains(err.Error(), "want 20..256") {
		t.Errorf("error %v, want the verb, the size and what the target said", err)
	}
}

func TestErrorsShowNoCredentials(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, fmt.Sprint("not for ", user, password, r.URL.RawQuery, r.Header.Get("X-Key")), http.StatusForbidden)
	}))
	gone := httptest.NewServer(nil)
	gone.Close()
	defer echo.Close()
	for _, base := range []string{echo.URL, gone.URL} {
		config := realize.DefaultHTTP()
		address := strings.Replace(base, "://", "://operator:pa55word@", 1) + "/pool?token=t0ken&size={{.Size}}"
		config.Read.URL, config.Write.URL = strings.Replace(address, "{{.Size}}", "9", 1), address
		config.Headers = map[string]string{"X-Key": "k3yk3y"}
		h, err := realize.NewHTTP(config)
		if err != nil {
			t.Fatal(err)
		}
		_, _, readErr := h.Read(t.Context())
		for _, err := range []error{readErr, h.Write(t.Context(), 9)} {
			if err == nil {
				t.Fatal("want an error")
			}
			for _, secret := range []string{"operator", "pa55word", "t0ken", "k3yk3y"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q shows %s", err, secret)
				}
			}
			if !strings.Contains(err.Error(), strings.TrimPrefix(base, "http://")) {
				t.Errorf("%q does not name the host", err)
			}
		}
	}
}
