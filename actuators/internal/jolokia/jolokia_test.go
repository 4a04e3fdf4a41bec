package jolokia_test

import (
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/jolokia"
	"sluice.dev/actuators/internal/tests/realizetest"
)

const pattern = `Tomcat:type=ThreadPool,name="http*"`

func named(port string) string { return strings.Replace(pattern, "*", "-nio-"+port, 1) }

func TestAPatternIsSearchedEachHalfMinute(t *testing.T) {
	server := realizetest.StartJolokia(t, map[string]*realizetest.Bean{named("8080"): {}})
	config := jolokia.Default()
	config.URL = server.URL
	agent, err := jolokia.New(config)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000, 0)
	agent.At(func() time.Time { return now })
	for _, step := range []struct{ pass, searches int }{{0, 1}, {29, 1}, {1, 2}, {29, 2}} {
		now = now.Add(time.Duration(step.pass) * time.Second)
		if name, err := agent.Bean(t.Context(), pattern); err != nil || name != named("8080") {
			t.Errorf("Bean() = %q, %v", name, err)
		}
		if got := server.Searches(); got != step.searches {
			t.Errorf("%d searches after %v, want %d", got, now, step.searches)
		}
	}
}

func TestABeanThatIsGoneIsSearchedAgain(t *testing.T) {
	old, beans := named("8080"), map[string]*realizetest.Bean{named("8080"): {Values: map[string]int64{"maxThreads": 8}}}
	server := realizetest.StartJolokia(t, beans)
	config := jolokia.Default()
	config.URL = server.URL
	agent, err := jolokia.New(config)
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		name, err := agent.Bean(t.Context(), pattern)
		if err == nil {
			_, err = agent.Numbers(t.Context(), name, "maxThreads")
		}
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	server.With(func() {
		beans[named("8081")] = beans[old]
		delete(beans, old)
	})
	if err := read(); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("error %v, want that the bean is not there", err)
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}
