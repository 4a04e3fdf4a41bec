package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Discover is a pool whose instances come and go: each instance becomes a target.
type Discover struct {
	// Name begins the names of the targets; the name of the instance follows.
	Name string `yaml:"name"`
	// Interval lies between two look-ups.
	Interval time.Duration `yaml:"interval"`
	// DNS, File and Kubernetes are the kinds of look-up; exactly one is set.
	DNS        *discover.DNSConfig  `yaml:"dns"`
	File       *discover.FileConfig `yaml:"file"`
	Kubernetes *kube.PodsConfig     `yaml:"kubernetes"`
	// Within are networks, as 10.0.0.0/8. Each instance has to be in one of them; without any, Reach has the rest.
	Within []string `yaml:"within"`
	// Target has the keys of a target except its name. With kubernetes and without `pool`, the pods' annotations declare pools
	// and kinds. Where a value may name environment variables, ${ADDRESS} (HOST:PORT),
	// ${HOST}, ${INSTANCE} and ${URL_PATH} are those of the instance.
	Target map[string]any `yaml:"target"`

	lookup func(string) (string, bool)
	optIn  bool
}

// DefaultDiscover has the default values of a discovery.
func DefaultDiscover() Discover { return Discover{Interval: 10 * time.Second} }

var nameless = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// At returns the target of an instance. Errors name the keys below the discovery's own.
func (d *Discover) At(endpoint discover.Endpoint) (Target, error) {
	t := DefaultTarget()
	faults := lay(d.keys(endpoint), &t, "target")
	if _, named := d.Target["name"]; named {
		faults = append(faults, fmt.Errorf("target.name: %q: want none: the names of the discovery and the instance make it", t.Name))
	}
	if faults = append(faults, t.block("target")...); len(faults) > 0 {
		return t, errors.Join(faults...)
	}
	t.Name = d.Name + "." + nameless.ReplaceAllString(cmp.Or(endpoint.Name, endpoint.Instance), "-")
	switch endpoint.OptIn {
	case discover.In:
		t.Apply = true
	case discover.Out:
		t.Apply = false
	default:
		t.Apply = t.Apply || d.optIn
	}
	// Bounds that have no size in common with the file's leave nothing to write.
	low, high := max(t.Min, endpoint.Min), min(t.Max, cmp.Or(endpoint.Max, t.Max))
	if low <= high {
		t.Min, t.Max = low, high
	} else {
		t.Apply = false
	}
	if t.Instance == "" {
		t.Instance = endpoint.Instance
	}
	t.SLO = cmp.Or(endpoint.SLO, t.SLO)
	here := map[string]string{"ADDRESS": endpoint.Address, "HOST": endpoint.Host(), "INSTANCE": endpoint.Instance, "URL_PATH": endpoint.Path}
	err := t.expand("target", func(name string) (string, bool) {
		if value, ok := here[name]; ok {
			return value, true
		}
		return d.lookup(name)
	})
	if err != nil {
		return t, err
	}
	return t, block.Below("target", t.validate())
}

// declared is true where the pods' annotations declare pools and targets, because the file names no pool.
func (d *Discover) declared() bool {
	_, named := d.Target["pool"]
	return d.Kubernetes != nil && !named
}

// keys returns the keys of an instance's target. Where the pods declare theirs, the pool and the kind are the pod's; the
// file has the rest: for each kind a block, as with its token_file, and limits for all.
func (d *Discover) keys(endpoint discover.Endpoint) map[string]any {
	if !d.declared() {
		return d.Target
	}
	keys := map[string]any{"min": 1, "max": 1000}
	for key, value := range d.Target {
		if !slices.Contains(kube.Kinds, key) {
			keys[key] = value
		}
	}
	keys["pool"] = map[string]any{"service": endpoint.Pool.Service, "side": pool.SideName(endpoint.Pool.Side), "peer": endpoint.Pool.Peer}
	block := map[string]any{"url": "http://${ADDRESS}${URL_PATH:-/jolokia/}"}
	switch configured := d.Target[endpoint.Kind].(type) {
	case map[string]any:
		maps.Copy(block, configured)
		keys[endpoint.Kind] = block
	case nil:
		keys[endpoint.Kind] = block
	default:
		keys[endpoint.Kind] = configured // not legal: decoding names it
	}
	return keys
}

// Source opens the kind of look-up that the configuration has. cluster is set where that is Kubernetes.
func (d *Discover) Source(cluster *kube.Cluster) discover.Source {
	switch {
	case d.File != nil:
		return discover.File{Config: *d.File}
	case d.Kubernetes != nil:
		return cluster.Pods(*d.Kubernetes, d.pool())
	default:
		return discover.DNS{Config: *d.DNS, Resolver: net.DefaultResolver}
	}
}

// Service returns the service of the instances' pool; "" where the pods declare pools.
func (d *Discover) Service() string { return d.pool().Service }

// pool returns the pool of all instances; the zero value where the pods declare pools.
func (d *Discover) pool() pool.Key {
	if d.declared() {
		return pool.Key{}
	}
	t, _ := d.At(sample)
	side, _ := pool.ParseSide(t.Pool.Side)
	return pool.Key{Service: t.Pool.Service, Side: side, Peer: t.Pool.Peer}
}

// sample stands for any instance.
var sample = discover.Endpoint{Address: "127.0.0.1:1", Instance: "instance"}

func (d *Discover) expand(lookup func(string) (string, bool)) error {
	d.lookup = lookup
	f := filler{lookup: lookup}
	if d.DNS != nil {
		f.fill(&d.DNS.Name, "dns.name")
	}
	if d.File != nil {
		f.fill(&d.File.Path, "file.path")
	}
	if d.Kubernetes != nil {
		f.fill(&d.Kubernetes.Namespace, "kubernetes.namespace")
	}
	return errors.Join(f.faults...)
}

func (d *Discover) validate() error {
	var faults []error
	if !name.MatchString(d.Name) || d.Name == AllTargets {
		faults = append(faults, fmt.Errorf("name: %q: want 1 to 128 letters, digits, dots, dashes and underscores, and not %q", d.Name, AllTargets))
	}
	faults = append(faults, within("interval", d.Interval, 100*time.Millisecond, time.Hour))
	if _, err := networksOf(d.Within); err != nil {
		faults = append(faults, err)
	}
	kinds := 0
	for _, there := range []bool{d.DNS != nil, d.File != nil, d.Kubernetes != nil} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		faults = append(faults, errors.New("dns: want exactly one of dns, file and kubernetes"))
	}
	if d.DNS != nil {
		faults = append(faults, block.Below("dns", d.DNS.Validate()))
	}
	if d.File != nil {
		faults = append(faults, block.Below("file", d.File.Validate()))
	}
	if d.Kubernetes != nil {
		faults = append(faults, block.Below("kubernetes", d.Kubernetes.Validate(d.declared())))
	}
	if !d.declared() {
		_, err := d.At(sample)
		return errors.Join(append(faults, err)...)
	}
	for _, kind := range kube.Kinds {
		declares := sample
		declares.Kind, declares.Pool = kind, pool.Key{Service: "service", Side: poolsv1.Side_SIDE_SERVER}
		if _, err := d.At(declares); err != nil {
			return errors.Join(append(faults, err)...) // the next kind has the same faults, for the most part
		}
	}
	return errors.Join(faults...)
}
