package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/subsets"
	poolsv1 "sluice.dev/api/pools/v1"
)

// environment looks names up in pairs and nowhere else.
func environment(pairs ...string) func(string) (string, bool) {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func httpOf(t config.Target) *realize.HTTPConfig { return t.Block.(*realize.HTTPConfig) }

func TestLoadDefaults(t *testing.T) {
	c, err := config.Load("testdata/minimal.yaml", environment("DEMO_TOKEN", "t0ken"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name == "" || c.StatusAddress != "127.0.0.1:8091" || c.Recommender.Address != "127.0.0.1:50051" ||
		c.Recommender.Interval != 2*time.Second || c.Reports.Queue != 10_000 {
		t.Errorf("defaults of the process: %+v", c)
	}
	target := c.Targets[0]
	if target.Apply {
		t.Error("a target applies without an opt-in")
	}
	if target.MaxFactor != 2 || target.Cooldown != time.Second || target.Settle != 5*time.Second ||
		target.Instance != "cart.threads" {
		t.Errorf("defaults of a target: %+v", target)
	}
	if h := httpOf(target); h.Timeout != 2*time.Second || h.Read.Pointer != "/size" || h.Read.Status != 200 || h.Write.Method != "PUT" {
		t.Errorf("defaults of http: %+v", h)
	}
	if got := httpOf(target).Headers["Authorization"]; got != "Bearer t0ken" {
		t.Errorf("Authorization = %q, want the token from the environment", got)
	}
}

func TestLoadReadsEveryKey(t *testing.T) {
	c, err := config.Load("testdata/full.yaml", environment("STATUS", "http://127.0.0.1:18091/", "POD", "catalogue-7f9c"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "rack-7" || c.StatusAddress != "127.0.0.1:18091" || c.Recommender.Address != "10.0.0.1:443" ||
		c.Recommender.Interval != 500*time.Millisecond || c.Recommender.Timeout != time.Second ||
		c.Reports.Queue != 10 || c.ShutdownGrace != time.Second || len(c.Targets) != 2 {
		t.Errorf("process: %+v", c)
	}
	target := c.Targets[1]
	if !target.Apply || target.Min != 3 || target.Max != 40 || target.Cooldown != time.Minute || target.Settle != 0 ||
		target.Instance != "catalogue-7f9c" || target.MaxFactor != 4 || target.SLO != 250*time.Millisecond || c.Targets[0].SLO != 0 ||
		target.Pool != (config.Pool{Service: "catalogue", Side: "client", Peer: "catalogue-db"}) {
		t.Errorf("target: %+v", target)
	}
	if c.State != "/var/lib/sluice-actuator" || c.KillSwitch != "/run/sluice.stop" || target.ChangesPerHour != 6 ||
		strings.Join(target.QuietHours, " ") != "22:00-06:00 11:30-13:00" || !target.RestoreOnExit || c.Targets[0].ChangesPerHour != 240 {
		t.Errorf("limits: %+v %+v", c, target)
	}
	h := httpOf(target)
	if h.Timeout != 300*time.Millisecond || h.Read.Pointer != "/value/max" || h.Read.Status != 203 || *h.Read.Unbounded != -1 ||
		h.Write.Method != "POST" || h.Write.Body != `{"value": {{.Size}}}` || h.Write.Status != 202 {
		t.Errorf("http: %+v", h)
	}
	if c.Discover[0].Interval != 30*time.Second || c.Discover[1].Interval != 10*time.Second || c.Discover[1].File.Path != "/run/rows.yaml" {
		t.Errorf("discover: %+v", c.Discover)
	}
	first, second := c.Subsets[0], c.Subsets[1]
	place := first.Block.(*subsets.NFTablesConfig)
	if first.Instance != "catalogue-7f9c" || !first.Apply || first.Min != 2 || first.Cooldown != 10*time.Second || first.Settle != time.Second ||
		!first.RemoveOnExit || first.Networks()[0].String() != "10.0.0.0/8" || second.Apply || second.Min != 1 || second.Cooldown != 3*time.Second ||
		*place != (subsets.NFTablesConfig{Virtual: "10.96.0.12:80", Protocol: "udp", From: "10.1.2.3", NetNS: "/run/netns/front"}) {
		t.Errorf("subsets: %+v %+v", c.Subsets, place)
	}
	if len(c.Scaling) != 4 {
		t.Fatalf("scaling: %+v", c.Scaling)
	}
	if s := c.Scaling[0]; s.Service != "cart" || s.HTTP.Timeout != 400*time.Millisecond || s.HTTP.Read.Replicas != "/spec/replicas" ||
		s.HTTP.Read.Since != "/status/since" || s.HTTP.Headers["Authorization"] != "Bearer http://127.0.0.1:18091/" {
		t.Errorf("scaling of cart: %+v", s.HTTP)
	}
	if file, cgroup := c.Scaling[1].File, c.Scaling[2].Cgroup; file.Path != "/run/catalogue.json" || file.Read.Version != "/version" ||
		cgroup.Path != "/sys/fs/cgroup/front/cpu.max" {
		t.Errorf("scaling: %+v and %+v", file, cgroup)
	}
	if orders := c.Scaling[3].HTTP; orders.Timeout != 2*time.Second {
		t.Errorf("timeout %s, want the default of 2 s", orders.Timeout)
	}
	if len(c.Containers) != 2 || c.Containers[0].Renew != 4*time.Minute ||
		*c.Containers[0].Kubernetes != (kube.EndpointsConfig{Namespace: "catalogue-7f9c", Service: "cart"}) {
		t.Errorf("containers: %+v", c.Containers)
	}
	if second := c.Containers[1]; second.Service != "Orders of the shop" || second.Renew != 30*time.Second ||
		*second.Kubernetes != (kube.EndpointsConfig{Namespace: "shop", Service: "orders", Port: "http", Family: "IPv6"}) {
		t.Errorf("containers: %+v", second)
	}
}

func TestATargetForEachInstance(t *testing.T) {
	c, err := config.Load("testdata/full.yaml", environment("STATUS", "http://127.0.0.1:1", "POD", "p"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"10.0.0.1", "10.0.0.2"} {
		endpoint := discover.Endpoint{Address: host + ":8778", Instance: host}
		cart, err := c.Discover[0].At(endpoint)
		if err != nil {
			t.Fatal(err)
		}
		block := cart.Block.(*realize.TomcatConfig)
		if cart.Name != "cart."+host || cart.Instance != host || cart.Apply || cart.MaxFactor != 2 ||
			block.URL != "http://"+host+":8778/jolokia/" || block.Headers["X-Status"] != "http://127.0.0.1:1" {
			t.Errorf("target %+v %+v", cart, block)
		}
		rows, err := c.Discover[1].At(endpoint)
		if err != nil || rows.Instance != "pod-"+host || !rows.Apply || rows.Block.(*realize.HandlerConfig).URL != "http://"+host+":8099/rows" {
			t.Errorf("target %+v, %v", rows, err)
		}
	}
	if err := c.OptIn([]string{"cart"}); err != nil {
		t.Fatal(err)
	}
	strange, err := c.Discover[0].At(discover.Endpoint{Address: "[fd00::1]:80", Instance: "fd00::1"})
	if err != nil || strange.Name != "cart.fd00-1" || !strange.Apply {
		t.Errorf("target %+v, %v", strange, err)
	}
}

func TestATargetForEachDeclaredPool(t *testing.T) {
	c, err := config.Load("testdata/declared.yaml", environment())
	if err != nil {
		t.Fatal(err)
	}
	declares := discover.Endpoint{
		Address: "10.0.0.1:8778", Instance: "shop.cart-0.app", Name: "cart-0.rows", Kind: "hikari",
		Pool: pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_CLIENT, Peer: "postgres"},
	}
	for name, c := range map[string]struct {
		low, high int64
		optIn     discover.OptIn
		at        *config.Discover
		want      string
	}{
		"the file's limits":           {0, 0, discover.In, &c.Discover[0], "shop.cart-0.rows true 1..1000"},
		"narrowed":                    {0, 20, discover.In, &c.Discover[1], "limited.cart-0.rows true 4..20"},
		"never widened":               {1, 500, discover.In, &c.Discover[1], "limited.cart-0.rows true 4..64"},
		"no size in common: no write": {65, 0, discover.In, &c.Discover[1], "limited.cart-0.rows false 4..64"},
	} {
		declares.Min, declares.Max, declares.OptIn = c.low, c.high, c.optIn
		target, err := c.at.At(declares)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %t %d..%d", target.Name, target.Apply, target.Min, target.Max); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if target.Pool != (config.Pool{Service: "cart", Side: "client", Peer: "postgres"}) || target.Instance != "shop.cart-0.app" {
			t.Errorf("%s: %+v", name, target)
		}
	}
	for slo, want := range map[time.Duration]time.Duration{0: 300 * time.Millisecond, time.Second: time.Second} {
		declares.SLO = slo
		if target, err := c.Discover[1].At(declares); err != nil || target.SLO != want {
			t.Errorf("declared slo %s: %s, %v, want %s", slo, target.SLO, err, want)
		}
	}
	declares.Kind, declares.Path = "handler", "/rows"
	target, err := c.Discover[1].At(declares)
	if err != nil || target.Block.(*realize.HandlerConfig).URL != "http://10.0.0.1:8778/rows" || target.Block.(*realize.HandlerConfig).Headers["X-Team"] != "shop" {
		t.Errorf("target %+v, %v", target, err)
	}
	if service := c.Discover[0].Service(); service != "" {
		t.Errorf("service %q, want none", service)
	}
}

// Each file of testdata/bad has one fault; its first line is a comment with a part of the error.
func TestLoadBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			want, ok := strings.CutPrefix(line, "# error: ")
			if !ok {
				t.Fatalf("the first line is %q, want `# error: ...`", line)
			}
			_, err = config.Load(file, environment())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("error: %v\nwant: %s", err, want)
			}
			if !strings.HasPrefix(err.Error(), file+": ") {
				t.Errorf("the error does not name the file first: %v", err)
			}
		})
	}
}

func TestLoadReportsEveryFaultAtOnce(t *testing.T) {
	_, err := config.Load("testdata/many_faults.yaml", environment())
	if err == nil {
		t.Fatal("want an error")
	}
	const file = "testdata/many_faults.yaml: "
	want := []string{
		file + `reports.queue: 0: want 1 to 100000`,
		file + `targets[0].min: -1: want 1 to 65535`,
		file + `targets[0].http.timeout: 0s: want 1ms to 1m`,
		file + `targets[0].http.read.url: "localhost/size": want http://HOST... or https://HOST...`,
		file + `targets[1].http: absent: want the kind of target, one of ` + strings.Join(realize.Kinds.Names(), ", "),
	}
	if got := strings.Join(want, "\n"); err.Error() != got {
		t.Errorf("error:\n%v\nwant:\n%s", err, got)
	}
}

func TestLoadMissingFile(t *testing.T) {
	if _, err := config.Load("testdata/none.yaml", environment()); err == nil || !strings.Contains(err.Error(), "testdata/none.yaml") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// The file of the local stack must always load, with the addresses of the environment or without.
func TestLoadLocalStack(t *testing.T) {
	c, err := config.Load("../../../deploy/local/actuator.yaml", environment())
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range c.Targets {
		if target.Apply {
			t.Errorf("%s applies by default", target.Name)
		}
	}
	c, err = config.Load("../../../deploy/local/actuator.yaml", environment(
		"SLUICE_ACTUATOR", "http://127.0.0.1:18091", "SLUICE_RECOMMENDER", "127.0.0.1:60051", "SLUICE_DEMO", "http://127.0.0.1:18090"))
	if err != nil {
		t.Fatal(err)
	}
	if got := httpOf(c.Targets[0]).Write.URL; got != "http://127.0.0.1:18090/pools/cart.threads" {
		t.Errorf("write.url = %q", got)
	}
	if c.StatusAddress != "127.0.0.1:18091" || c.Recommender.Address != "127.0.0.1:60051" {
		t.Errorf("status %q, recommender %q", c.StatusAddress, c.Recommender.Address)
	}
}

func TestHealthOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct{ address, expose, want, fault string }{
		{"", "", "127.0.0.1:8091", ""},
		{"127.0.0.1:9464", "", "127.0.0.1:9464", ""},
		{"0.0.0.0:9464", "true", "0.0.0.0:9464", ""},
		{"0.0.0.0:9464", "", "", "SLUICE_HEALTH_EXPOSE=true makes every address legal"},
		{"", "yes", "", `SLUICE_HEALTH_EXPOSE: "yes": want true or false`},
		{"9464", "true", "", "want HOST:PORT"},
	} {
		c, err := config.Load("testdata/minimal.yaml", environment("DEMO_TOKEN", "t", "SLUICE_HEALTH", tt.address, "SLUICE_HEALTH_EXPOSE", tt.expose))
		if tt.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("%q, %q: %v, want %q", tt.address, tt.expose, err, tt.fault)
			}
		} else if err != nil || c.StatusAddress != tt.want {
			t.Errorf("%q, %q: %+v, %v", tt.address, tt.expose, c, err)
		}
	}
}

func TestOptIn(t *testing.T) {
	load := func() *config.Config {
		c, err := config.Load("testdata/full.yaml", environment("STATUS", "127.0.0.1:1", "POD", "p"))
		if err != nil {
			t.Fatal(err)
		}
		c.Targets[1].Apply = false
		return c
	}
	tests := []struct {
		names         []string
		first, second bool
	}{
		{nil, false, false},
		{[]string{"cart.threads"}, true, false},
		{[]string{"cart.threads", "catalogue.connections"}, true, true},
		{[]string{"all"}, true, true},
	}
	for _, tt := range tests {
		c := load()
		if err := c.OptIn(tt.names); err != nil || c.Targets[0].Apply != tt.first || c.Targets[1].Apply != tt.second {
			t.Errorf("OptIn(%q): %v, apply %t and %t, want %t and %t", tt.names, err, c.Targets[0].Apply, c.Targets[1].Apply, tt.first, tt.second)
		}
	}
	err := load().OptIn([]string{"cart.thread"})
	if err == nil || !strings.Contains(err.Error(), `"cart.thread": not configured; want all or one of: cart.threads, catalogue.connections`) {
		t.Errorf("error %v, want the names that exist", err)
	}
}
