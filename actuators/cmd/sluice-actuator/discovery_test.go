package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/tests/files"
)

func loaded(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "actuator.yaml")
	files.Write(t, file, text)
	c, err := config.Load(file, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const discovered = `discover:
  - name: cart
    file: {path: /run/cart.yaml}
    target:
      pool: {service: cart, side: server}
      min: 2
      max: 9
      handler: {url: "http://${ADDRESS}/threads"}
`

func TestANameThatOccursTwiceIsAnError(t *testing.T) {
	c := loaded(t, discovered)
	endpoints := []discover.Endpoint{
		{Address: "a:80", Instance: "cart-0"}, {Address: "b:80", Instance: "cart-0"}, {Address: "c:80", Instance: "cart-1"},
	}
	targets, err := targetsAt(&c.Discover[0], endpoints)
	if len(targets) != 2 || targets[0].Name != "cart.cart-0" || targets[1].Name != "cart.cart-1" {
		t.Errorf("targets %v, want the first of each name", targets)
	}
	if err == nil || !strings.Contains(err.Error(), `b:80: instance "cart-0" exists already at a:80`) {
		t.Errorf("error %v, want one that names both addresses", err)
	}
}

func TestFilesAreReadEachHalfSecond(t *testing.T) {
	c := loaded(t, discovered+`recommender: {interval: 2s}
scaling:
  - {service: a, file: {path: /run/a.json, read: {replicas: /r}}}
  - {service: b, cgroup: {path: /sys/fs/cgroup/b/cpu.max}}
  - {service: c, http: {url: "http://h/", read: {replicas: /r}}}
  - {service: d, interval: 5s, file: {path: /run/d.json, read: {replicas: /r}}}
`)
	for i, want := range []time.Duration{ofFiles, ofFiles, 2 * time.Second, 5 * time.Second} {
		if got := interval(c.Scaling[i], c); got != want {
			t.Errorf("source %d is read each %s, want %s", i, got, want)
		}
	}
	c.Recommender.Interval = 100 * time.Millisecond
	if got := interval(c.Scaling[0], c); got != 100*time.Millisecond {
		t.Errorf("a file is read each %s, less often than targets", got)
	}
}
