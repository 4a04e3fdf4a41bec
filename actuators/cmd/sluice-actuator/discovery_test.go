package main

import (
	"net"
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

// Whoever names an instance's address would get the requests, with their token.
func TestWhereNoRequestGoes(t *testing.T) {
	listed := strings.Replace(discovered, "    file:", "    within: [10.0.0.0/8, \"fd00::/8\"]\n    file:", 1)
	pods := strings.Replace(discovered, "file: {path: /run/cart.yaml}", "kubernetes: {namespace: shop, selector: app=cart, port: 80}", 1) + "kubernetes: {}\n"
	own := strings.Replace(pods, "    kubernetes: {namespace", "    within: [127.0.1.0/24, 10.9.9.0/24]\n    kubernetes: {namespace", 1)
	for _, tt := range []struct {
		config, host string
		reached      bool
	}{
		{discovered, "10.0.0.1", true},
		{discovered, "127.0.0.1", true},
		{discovered, "cart-0.cart", true},
		{discovered, "169.254.169.254", false},
		{discovered, "::ffff:169.254.169.254", false},
		{discovered, "fe80::1", false},
		{discovered, "0.0.0.0", false},
		{discovered, "224.0.0.1", false},
		{pods, "10.0.0.1", true},
		{pods, "127.0.0.1", false},
		{pods, "::1", false},
		{own, "127.0.1.7", true},
		{own, "127.0.0.1", false},
		{own, "10.0.0.1", false},
		{listed, "10.1.2.3", true},
		{listed, "fd00::7", true},
		{listed, "192.168.0.1", false},
		{listed, "127.0.0.1", false},
		{listed, "cart-0.cart", false},
	} {
		targets, err := targetsAt(&loaded(t, tt.config).Discover[0], []discover.Endpoint{
			{Address: net.JoinHostPort(tt.host, "80"), Instance: "cart-0"}, {Address: "10.9.9.9:80", Instance: "cart-1"},
		})
		if want := map[bool]int{true: 2, false: 1}[tt.reached]; len(targets) != want || (err == nil) != tt.reached {
			t.Errorf("%s: %d targets, want %d: %v", tt.host, len(targets), want, err)
		}
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
