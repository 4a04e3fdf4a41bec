package config

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"sluice.dev/actuators/internal/redact"
)

// Load reads, expands and validates the file at path. Its error names the file and, a line each, every fault
// with its key, its value and what is legal. lookup is os.LookupEnv outside tests.
func Load(path string, lookup func(string) (string, bool)) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	c := Default()
	if err := decode(bytes.NewReader(text), &c); err != nil {
		return nil, inFile(path, err)
	}
	if err := c.expand(lookup); err != nil {
		return nil, inFile(path, err)
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

// inFile puts the file's name before every line of err, which shows no credentials of a URL.
func inFile(path string, err error) error {
	return fmt.Errorf("%s: %s", path, strings.ReplaceAll(redact.Text(err.Error()), "\n", "\n"+path+": "))
}

// expand fills ${NAME} in the keys that may hold addresses, secrets and what differs from host to host, and in no
// other.
func (c *Config) expand(lookup func(string) (string, bool)) error {
	var faults []error
	fill := func(text *string, key string, args ...any) {
		expanded, err := expand(*text, lookup)
		if err != nil {
			faults = append(faults, fmt.Errorf(key+": %w", append(args, err)...))
			return
		}
		*text = expanded
	}
	fill(&c.StatusAddress, "status_address")
	c.StatusAddress = strings.TrimSuffix(strings.TrimPrefix(c.StatusAddress, "http://"), "/")
	fill(&c.Recommender.Address, "recommender.address")
	fill(&c.State, "state")
	fill(&c.KillSwitch, "kill_switch")
	for i := range c.Targets {
		if err := c.Targets[i].expand(fmt.Sprintf("targets[%d]", i), lookup); err != nil {
			faults = append(faults, err)
		}
	}
	for i := range c.Discover {
		if err := below(fmt.Sprintf("discover[%d]", i), c.Discover[i].expand(lookup)); err != nil {
			faults = append(faults, err)
		}
	}
	for i := range c.Subsets {
		if err := c.Subsets[i].expand(fmt.Sprintf("subsets[%d]", i), lookup); err != nil {
			faults = append(faults, err)
		}
	}
	if c.Kubernetes != nil {
		c.Kubernetes.Variables(func(text *string, key string) { fill(text, "kubernetes."+key) })
	}
	for i := range c.Scaling {
		s := &c.Scaling[i]
		if s.HTTP != nil {
			fill(&s.HTTP.URL, "scaling[%d].http.url", i)
			s.HTTP.Config.Variables(func(text *string, key string) { fill(text, "scaling[%d].http.%s", i, key) })
		}
		if s.File != nil {
			fill(&s.File.Path, "scaling[%d].file.path", i)
		}
		if s.Cgroup != nil {
			fill(&s.Cgroup.Path, "scaling[%d].cgroup.path", i)
		}
		if s.Kubernetes != nil {
			fill(&s.Kubernetes.Namespace, "scaling[%d].kubernetes.namespace", i)
		}
	}
	return errors.Join(faults...)
}

// expand does so for one target, which stands at the key root; its instance is its name when absent.
func (t *Target) expand(root string, lookup func(string) (string, bool)) error {
	var faults []error
	fill := func(text *string, key string) {
		expanded, err := expand(*text, lookup)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s.%s: %w", root, key, err))
			return
		}
		*text = expanded
	}
	if fill(&t.Instance, "instance"); t.Instance == "" {
		t.Instance = t.Name
	}
	if t.Block != nil {
		t.Block.Variables(func(text *string, key string) { fill(text, t.Kind+"."+key) })
	}
	return errors.Join(faults...)
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
