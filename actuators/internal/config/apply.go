package config

import (
	"fmt"
	"strings"
)

// AllTargets is the word that stands for every target in OptIn.
const AllTargets = "all"

// OptIn turns apply on for the named targets: what the flag --apply does, beside the file's own opt-ins.
// It never turns one off.
func (c *Config) OptIn(names []string) error {
	for _, name := range names {
		found := false
		for i := range c.Targets {
			if name == AllTargets || name == c.Targets[i].Name {
				c.Targets[i].Apply, found = true, true
			}
		}
		if !found {
			return fmt.Errorf("opt in target %q: not configured; want %s or one of: %s", name, AllTargets, strings.Join(c.names(), ", "))
		}
	}
	return nil
}

func (c *Config) names() []string {
	names := make([]string, len(c.Targets))
	for i := range c.Targets {
		names[i] = c.Targets[i].Name
	}
	return names
}
