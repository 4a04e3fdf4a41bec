package settings_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/tests/realizetest"
	"sluice.dev/actuators/internal/trials/settings"
)

func setting(t *testing.T, config settings.Config) settings.Setting {
	t.Helper()
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	opened, err := config.Setting()
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// reads and writes values, each of which is read back.
func roundTrip(t *testing.T, s settings.Setting, values ...string) {
	t.Helper()
	for _, value := range values {
		if err := s.Write(t.Context(), value); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(t.Context()); err != nil || got != value {
			t.Fatalf("%q %v, want %q", got, err, value)
		}
	}
}

func TestAFileHasAnyValueOnOneLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.conf")
	if err := os.WriteFile(path, []byte("a = 1\nmode = calm # now\nz\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	config := settings.DefaultFile()
	config.Path, config.Pattern = path, `^mode = (\S+)`
	config.Command = []string{"sh", "-c", `test "$SLUICE_VALUE" != broken`}
	s := setting(t, &config)
	roundTrip(t, s, "wild", "0.25", "128MB")
	if err := s.Write(t.Context(), "two\nlines"); err == nil {
		t.Error("two lines were written")
	}
	if err := s.Write(t.Context(), "broken"); err == nil {
		t.Error("what the command refuses was written")
	}
	text, _ := os.ReadFile(path)
	if string(text) != "a = 1\nmode = 128MB # now\nz\n" {
		t.Errorf("%s", text)
	}
	config.Pattern = `^other = (\S+)`
	if _, err := setting(t, &config).Read(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing within") {
		t.Error(err)
	}
}

func TestAnHTTPTargetTakesTextsNumbersAndTruthValues(t *testing.T) {
	var mu sync.Mutex
	var value any = "lru"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			var sent struct{ Value any }
			if err := json.Unmarshal(body, &sent); err != nil || sent.Value == "none" {
				http.Error(w, "no such policy", http.StatusConflict)
				return
			}
			value = sent.Value
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"cache": map[string]any{"policy": value}})
	}))
	t.Cleanup(server.Close)
	config := settings.DefaultHTTP()
	config.Read.URL, config.Read.Pointer, config.Write.URL = server.URL, "/cache/policy", server.URL
	s := setting(t, &config)
	roundTrip(t, s, "lfu", "64", "0.5", "true", `a "quoted" word`)
	if _, number := value.(string); !number {
		t.Errorf("%T", value)
	}
	roundTrip(t, s, "12")
	if _, number := value.(float64); !number {
		t.Errorf("a number was sent as %T", value)
	}
	if err := s.Write(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "no such policy") {
		t.Error(err)
	}
}

// beans has one bean, which takes every write.
func beans(t *testing.T, name string, values map[string]int64) *realizetest.Jolokia {
	bean := &realizetest.Bean{Values: values}
	bean.Set = func(attribute string, value int64) error { bean.Values[attribute] = value; return nil }
	return realizetest.StartJolokia(t, map[string]*realizetest.Bean{name: bean})
}

func TestAnAttributeOverJolokia(t *testing.T) {
	agent := beans(t, "app:type=Cache", map[string]int64{"Entries": 100})
	config := settings.DefaultJMX()
	config.URL, config.MBean, config.Attribute = agent.URL, "app:type=Cache", "Entries"
	roundTrip(t, setting(t, &config), "250", "1")
}

func TestASizeIsASetting(t *testing.T) {
	agent := beans(t, `Tomcat:type=ThreadPool,name="http-1"`,
		map[string]int64{"maxThreads": 200, "minSpareThreads": 10, "currentThreadCount": 3})
	config, ok := settings.New("tomcat")
	if !ok {
		t.Fatal("no tomcat")
	}
	config.(*settings.Pool).Block().(*realize.TomcatConfig).URL = agent.URL
	s := setting(t, config)
	roundTrip(t, s, "64", "8")
	for _, value := range []string{"0", "many", "2.5"} {
		if s.Write(t.Context(), value) == nil {
			t.Errorf("%s was written", value)
		}
	}
}
