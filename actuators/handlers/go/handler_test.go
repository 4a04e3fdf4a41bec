package handlers_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/handlers"
)

// nowhere is a database whose connections do nothing.
type nowhere struct{}

func (n nowhere) Connect(context.Context) (driver.Conn, error) { return connection{}, nil }
func (n nowhere) Driver() driver.Driver                        { return n }
func (n nowhere) Open(string) (driver.Conn, error)             { return connection{}, nil }

type connection struct{}

func (connection) Prepare(string) (driver.Stmt, error) { return nil, errors.New("nothing to prepare") }
func (connection) Close() error                        { return nil }
func (connection) Begin() (driver.Tx, error)           { return nil, errors.New("nothing to begin") }

func serve(t *testing.T, db *sql.DB) (url, tokenFile string) {
	tokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handlers.Handler(tokenFile, map[string]handlers.Pool{"rows": handlers.SQL(db)}))
	t.Cleanup(server.Close)
	return server.URL + "/rows", tokenFile
}

func ask(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, strings.TrimSpace(string(text))
}

func TestOpenAndIdleMoveTogether(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	url, _ := serve(t, db)
	const token = "Bearer 0123456789abcdef"
	want := func(method, body, answer string) {
		t.Helper()
		if _, got := ask(t, method, url, token, body); got != answer {
			t.Errorf("%s %s: %s, want %s", method, body, got, answer)
		}
	}
	want("GET", "", `{"busy":0,"open":0,"size":0}`)
	want("PUT", `{"size": 6}`, `{"busy":0,"open":0,"size":6}`)
	var used []*sql.Conn
	for range 6 {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		used = append(used, c)
	}
	want("PUT", `{"size": 2}`, `{"busy":6,"open":6,"size":2}`)
	for _, c := range used[:3] {
		c.Close()
	}
	want("GET", "", `{"busy":3,"open":3,"size":2}`)
	for _, c := range used[3:] {
		c.Close()
	}
	want("GET", "", `{"busy":0,"open":2,"size":2}`)
	if idle := db.Stats().Idle; idle != 2 {
		t.Errorf("%d idle, want as many as may be open", idle)
	}
}

// All connections are in use, and none comes back: a caller waits.
func TestReportsHowManyWait(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	url, _ := serve(t, db)
	db.SetMaxOpenConns(2)
	for range 2 {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	const token = "Bearer 0123456789abcdef"
	if _, got := ask(t, "GET", url, token, ""); got != `{"busy":2,"open":2,"size":2}` {
		t.Errorf("%s: nobody knows at first how many wait", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 3 {
		go db.Conn(ctx)
	}
	for range 100 {
		if _, got := ask(t, "GET", url, token, ""); got == `{"busy":2,"open":2,"size":2,"waiting":3}` {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("want 3 waiting")
}

func TestWhatAnActuatorAsksIsNoLoad(t *testing.T) {
	users, _ := http.NewRequest("GET", "http://cart/orders", nil)
	ours, _ := http.NewRequest("GET", "http://cart/pools/rows", nil)
	ours.Header.Set("Sluice-Request", "1")
	if !handlers.NotSluice(users) || handlers.NotSluice(ours) {
		t.Error("want users' requests alone")
	}
}

func TestRefuses(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	url, tokenFile := serve(t, db)
	const good = "Bearer 0123456789abcdef"
	for _, tt := range []struct {
		method, url, token, body string
		want                     int
	}{
		{"GET", url, "", "", 401},
		{"PUT", url, "Bearer 0123456789abcdeg", `{"size": 3}`, 401},
		{"GET", url + "s", good, "", 404},
		{"DELETE", url, good, "", 405},
		{"PUT", url, good, `{"size": 0}`, 400},
		{"PUT", url, good, `{"size": -1}`, 400},
		{"PUT", url, good, `{"size": 65536}`, 400},
		{"PUT", url, good, `{"size": "3"}`, 400},
		{"PUT", url, good, strings.Repeat(" ", 2000) + `{"size": 3}`, 400},
	} {
		if status, text := ask(t, tt.method, tt.url, tt.token, tt.body); status != tt.want {
			t.Errorf("%s %s %.20s: %d %s, want %d", tt.method, tt.url, tt.body, status, text, tt.want)
		}
	}
	for _, text := range []string{"", "short", "0123456789abcde"} { // none, or one that is soon guessed, opens nothing
		os.WriteFile(tokenFile, []byte(text), 0o600)
		status, answer := ask(t, "GET", url, "Bearer "+text, "")
		if status != 401 || !strings.Contains(answer, "token_file: want 16 characters or more") {
			t.Errorf("token %q: %d %s, want 401", text, status, answer)
		}
	}
	if got := db.Stats().MaxOpenConnections; got != 0 {
		t.Errorf("resized to %d", got)
	}
}

func TestServeListens(t *testing.T) {
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(nowhere{})
	db.SetMaxOpenConns(7)
	pools := map[string]handlers.Pool{"rows": handlers.SQL(db)}
	server, err := handlers.Serve("127.0.0.1:0", tokenFile, pools)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if status, text := ask(t, http.MethodGet, "http://"+server.Addr+"/rows", "Bearer 0123456789abcdef", ""); status != 200 || !strings.Contains(text, `"size":7`) {
		t.Error(status, text)
	}
	if _, err := handlers.Serve(server.Addr, tokenFile, pools); err == nil {
		t.Error("it serves twice at one address")
	}
}

func TestServeRefusesAShortToken(t *testing.T) {
	tokenFile := filepath.Join(t.TempDir(), "token")
	if _, err := handlers.Serve("127.0.0.1:0", tokenFile, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(tokenFile, []byte("0123456789abcde\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := handlers.Serve("127.0.0.1:0", tokenFile, nil); err == nil || err.Error() != "token_file: want 16 characters or more, got 15" {
		t.Errorf("15 characters: %v", err)
	}
}
