package config

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/kube"
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
	// Target has the keys of a target except its name. Where a value may name environment variables, ${ADDRESS} (HOST:PORT),
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
	faults := lay(d.Target, &t, "target")
	if _, named := d.Target["name"]; named {
		faults = append(faults, fmt.Errorf("target.name: %q: want none: the names of the discovery and the instance make it", t.Name))
	}
	if faults = append(faults, t.block("target")...); len(faults) > 0 {
		return t, errors.Join(faults...)
	}
	t.Name = d.Name + "." + nameless.ReplaceAllString(endpoint.Instance, "-")
	switch endpoint.OptIn {
	case discover.In:
		t.Apply = true
	case discover.Out:
		t.Apply = false
	default:
		t.Apply = t.Apply || d.optIn
	}
	if t.Instance == "" {
		t.Instance = endpoint.Instance
	}
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

// Source opens the kind of look-up that the configuration has. cluster is set where that is Kubernetes.
func (d *Discover) Source(cluster *kube.Cluster) discover.Source {
	switch {
	case d.File != nil:
		return discover.File{Config: *d.File}
	case d.Kubernetes != nil:
		return cluster.Pods(*d.Kubernetes)
	default:
		return discover.DNS{Config: *d.DNS, Resolver: net.DefaultResolver}
	}
}

// Service returns the service of the instances' pool.
func (d *Discover) Service() string {
	t, _ := d.At(sample)
	return t.Pool.Service
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
		faults = append(faults, block.Below("kubernetes", d.Kubernetes.Validate()))
	}
	_, err := d.At(sample)
	return errors.Join(append(faults, err)...)
}
