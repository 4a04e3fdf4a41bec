// Package discover finds the instances of a pool: by DNS, or in a file that another program writes. internal/kube finds pods.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/pools/pool"
)

// Endpoint is one instance.
type Endpoint struct {
	// Address is HOST:PORT of the target.
	Address string `yaml:"address"`
	// Instance is its name in spans; by default the host, or Address where one host has several.
	Instance string `yaml:"instance"`
	// The other fields come from an orchestrator; other sources leave them empty.
	Path     string   `yaml:"-"`
	OptIn    OptIn    `yaml:"-"`
	Object   Object   `yaml:"-"`
	Workload Workload `yaml:"-"`
	// Name ends the target's name; by default the instance.
	Name string `yaml:"-"`
	// Pool and Kind are the pool and the kind of target that the pod declares.
	Pool pool.Key `yaml:"-"`
	Kind string   `yaml:"-"`
	// Min and Max narrow the sizes that may be written; 0 does not.
	Min int64 `yaml:"-"`
	Max int64 `yaml:"-"`
	// SLO replaces the file's; 0 does not.
	SLO time.Duration `yaml:"-"`
}

// OptIn is an instance's own opt-in.
type OptIn int8

// The zero value leaves the opt-in to the configuration.
const (
	Unset OptIn = iota
	In
	Out
)

// Object identifies the pod of an instance in its orchestrator.
type Object struct{ Namespace, Name, UID string }

// Workload is the object that made the pod of an instance. UID is empty where the pod does not name it.
type Workload struct{ APIVersion, Kind, Name, UID string }

// Identity changes with every field that makes the instance another target.
func (f Endpoint) Identity() string { return fmt.Sprint(f) }

// Host is Address without its port.
func (f Endpoint) Host() string {
	host, _, err := net.SplitHostPort(f.Address)
	if err != nil {
		return f.Address
	}
	return host
}

// Source finds the current instances, in a stable order.
type Source interface {
	Find(ctx context.Context) ([]Endpoint, error)
}

// Prompt is a Source that signals changes: Follow then queries it at once, and not only each interval.
type Prompt interface{ Changed() <-chan struct{} }

// DNSConfig is the `dns` block.
type DNSConfig struct {
	// Name is looked up for addresses, or, where Port is absent, for SRV records, which have the ports.
	Name string `yaml:"name"`
	Port int64  `yaml:"port"`
}

// Validate returns every fault, each with its key and the legal values.
func (c DNSConfig) Validate() error {
	var faults []error
	if c.Name == "" {
		faults = append(faults, errors.New(`name: "": want the DNS name of the instances`))
	}
	if c.Port < 0 || c.Port > 65535 {
		faults = append(faults, fmt.Errorf("port: %d: want 1 to 65535, or nothing where SRV records have it", c.Port))
	}
	return errors.Join(faults...)
}

// Resolver is what DNS needs of *net.Resolver.
type Resolver interface {
	LookupHost(ctx context.Context, name string) ([]string, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// DNS finds an instance for each address, or each SRV record, of a name.
type DNS struct {
	Config   DNSConfig
	Resolver Resolver
}

// Find implements Source.
func (d DNS) Find(ctx context.Context) ([]Endpoint, error) {
	var endpoints []Endpoint
	if d.Config.Port > 0 {
		hosts, err := d.Resolver.LookupHost(ctx, d.Config.Name)
		if err != nil {
			return nil, err
		}
		for _, host := range hosts {
			endpoints = append(endpoints, Endpoint{Address: net.JoinHostPort(host, strconv.FormatInt(d.Config.Port, 10))})
		}
	} else {
		_, records, err := d.Resolver.LookupSRV(ctx, "", "", d.Config.Name)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			endpoints = append(endpoints, Endpoint{Address: net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port)))})
		}
	}
	return tidy(endpoints), nil
}

// FileConfig is the `file` block: a list of address and instance, in YAML or JSON.
type FileConfig struct {
	Path string `yaml:"path"`
}

// Validate returns every fault, each with its key and the legal values.
func (c FileConfig) Validate() error {
	if c.Path == "" {
		return errors.New(`path: "": want the path of a file`)
	}
	return nil
}

// File reads the list each time.
type File struct{ Config FileConfig }

// Find implements Source.
func (f File) Find(context.Context) ([]Endpoint, error) {
	text, err := disk.Read(f.Config.Path)
	if err != nil {
		return nil, err
	}
	var endpoints []Endpoint
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&endpoints); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", f.Config.Path, err)
	}
	for i, endpoint := range endpoints {
		if _, port, err := net.SplitHostPort(endpoint.Address); err != nil || port == "" {
			return nil, fmt.Errorf("%s: [%d].address: %q: want HOST:PORT", f.Config.Path, i, endpoint.Address)
		}
	}
	return tidy(endpoints), nil
}

// tidy orders by address, each once, and names instances that have no name.
func tidy(endpoints []Endpoint) []Endpoint {
	slices.SortFunc(endpoints, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Instance, b.Instance))
	})
	endpoints = slices.CompactFunc(endpoints, func(a, b Endpoint) bool { return a.Address == b.Address })
	onHost := map[string]int{}
	for _, endpoint := range endpoints {
		onHost[endpoint.Host()]++
	}
	for i, endpoint := range endpoints {
		switch {
		case endpoint.Instance != "":
		case onHost[endpoint.Host()] > 1:
			endpoints[i].Instance = endpoint.Address
		default:
			endpoints[i].Instance = endpoint.Host()
		}
	}
	return endpoints
}
