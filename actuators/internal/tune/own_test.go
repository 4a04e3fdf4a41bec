package tune

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice.dev/actuators/internal/config"
)

// another has what a key names until a time.
type another struct {
	until time.Time
	asked map[string]string
}

func (a *another) ClaimKey(_ context.Context, name, key string) error {
	a.asked[name] = key
	if time.Now().Before(a.until) {
		return errors.New("b@host has the target")
	}
	return nil
}

func TestARunWaitsForWhoHasAParameterAndNotForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parameters.yaml")
	text := `
target: shop
hold: 20s
parameters:
  - {name: threads, tomcat: {url: "http://127.0.0.1:8778/jolokia"}}
  - {name: entries, http: {read: {url: "http://app:9000/cache", pointer: /entries}, write: {url: "http://app:9000/cache"}}}
  - {name: work, file: {path: FILE, pattern: '^work = (\S+)$'}}
`
	if err := os.WriteFile(path, []byte(strings.Replace(text, "FILE", path, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.LoadTune(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	target, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		other := &another{began.Add(15 * time.Second), map[string]string{}}
		var out bytes.Buffer
		run := &Run{Target: target, Config: c, Keeper: other, Host: "shop-1", Out: &out}
		if err := run.own(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("had it after %s", took)
		}
		if got := out.String(); got != "threads: b@host has the target; waiting\n" {
			t.Errorf("said %q", got)
		}
		if len(other.asked) != 2 || other.asked["entries"] != "http app:9000/cache /entries" || !strings.HasPrefix(other.asked["threads"], "jolokia shop-1:8778/jolokia ") {
			t.Errorf("asked for %v", other.asked)
		}
		other.until = time.Now().Add(time.Hour)
		began = time.Now()
		if err := run.own(t.Context()); err == nil || err.Error() != "threads: b@host has the target" {
			t.Error(err)
		}
		if took := time.Since(began); took < 40*time.Second || took > 42*time.Second {
			t.Errorf("gave up after %s, want twice the hold", took)
		}
	})
}
