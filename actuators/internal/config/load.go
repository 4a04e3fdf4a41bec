package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/redact"
)

// Load reads, expands and validates the file at path. Its error names the file and has a line for each fault, with its key,
// its value and the legal values. lookup is os.LookupEnv outside tests.
func Load(path string, lookup func(string) (string, bool)) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	c := Default()
	c.Digest = sha256.Sum256(text)
	if err := decode(bytes.NewReader(text), &c); err != nil {
		return nil, inFile(path, err)
	}
	if err := c.expand(lookup); err != nil {
		return nil, inFile(path, err)
	}
	if err := c.readHealth(lookup); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, inFile(path, err)
	}
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			return nil, fmt.Errorf("%s: name: find the host's name: %w", path, err)
		}
	}
	return &c, nil
}

// readHealth reads the variables of the listener for health.
func (c *Config) readHealth(lookup func(string) (string, bool)) error {
	if address, _ := lookup("SLUICE_HEALTH"); address != "" {
		c.StatusAddress = withoutScheme(address)
	}
	switch expose, _ := lookup("SLUICE_HEALTH_EXPOSE"); expose {
	case "", "false":
	case "true":
		c.Expose = true
	default:
		return fmt.Errorf("SLUICE_HEALTH_EXPOSE: %q: want true or false", expose)
	}
	return nil
}

func withoutScheme(address string) string {
	return strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/")
}

// inFile puts the file's name before every line of err, and removes credentials of URLs.
func inFile(path string, err error) error {
	return fmt.Errorf("%s: %s", path, strings.ReplaceAll(redact.Text(err.Error()), "\n", "\n"+path+": "))
}

// expand fills ${NAME} in the keys that may hold addresses, secrets and values that differ between hosts, and in no other
// key.
func (c *Config) expand(lookup func(string) (string, bool)) error {
	f := filler{lookup: lookup}
	f.fill(&c.StatusAddress, "status_address")
	c.StatusAddress = withoutScheme(c.StatusAddress)
	f.fill(&c.Recommender.Address, "recommender.address")
	f.fill(&c.State, "state")
	f.fill(&c.KillSwitch, "kill_switch")
	for i := range c.Targets {
		f.keep(c.Targets[i].expand(fmt.Sprintf("targets[%d]", i), lookup))
	}
	for i := range c.Discover {
		f.keep(block.Below(fmt.Sprintf("discover[%d]", i), c.Discover[i].expand(lookup)))
	}
	for i := range c.Subsets {
		f.keep(c.Subsets[i].expand(fmt.Sprintf("subsets[%d]", i), lookup))
	}
	if c.Kubernetes != nil {
		f.block("kubernetes", c.Kubernetes)
	}
	for i := range c.Scaling {
		s, root := &c.Scaling[i], fmt.Sprintf("scaling[%d].", i)
		if s.HTTP != nil {
			f.fill(&s.HTTP.URL, root+"http.url")
			f.block(root+"http", &s.HTTP.Config)
		}
		if s.File != nil {
			f.fill(&s.File.Path, root+"file.path")
		}
		if s.Cgroup != nil {
			f.fill(&s.Cgroup.Path, root+"cgroup.path")
		}
		if s.Kubernetes != nil {
			f.fill(&s.Kubernetes.Namespace, root+"kubernetes.namespace")
		}
	}
	for i := range c.Containers {
		f.keep(c.Containers[i].expand(fmt.Sprintf("containers[%d]", i), lookup))
	}
	return errors.Join(f.faults...)
}

// expand does so for one target at the key root. The instance defaults to the target's name.
func (t *Target) expand(root string, lookup func(string) (string, bool)) error {
	f := filler{lookup: lookup, root: root + "."}
	if f.fill(&t.Instance, "instance"); t.Instance == "" {
		t.Instance = t.Name
	}
	if t.Block != nil {
		f.block(t.Kind, t.Block)
	}
	return errors.Join(f.faults...)
}

// checkAddress wants HOST:PORT with a port from 1.
func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err == nil && host != "" {
		if n, lookupErr := net.LookupPort("tcp", port); lookupErr == nil && n >= 1 {
			return nil
		}
	}
	return fmt.Errorf("%q: want HOST:PORT with a port from 1 to 65535", text)
}
