package config

import (
	"fmt"
	"strings"
)

// AllTargets stands for every target in OptIn.
const AllTargets = "all"

// OptIn turns apply on for the named targets and subsets, and for all targets of the named discoveries. It implements the
// flag --apply, beside the file's own opt-ins. It never turns one off.
func (c *Config) OptIn(names []string) error {
	for _, name := range names {
		known := name == AllTargets
		for i := range c.Targets {
			if name == AllTargets || name == c.Targets[i].Name {
				c.Targets[i].Apply, known = true, true
			}
		}
		for i := range c.Discover {
			if name == AllTargets || name == c.Discover[i].Name {
				c.Discover[i].optIn, known = true, true
			}
		}
		for i := range c.Subsets {
			if name == AllTargets || name == c.Subsets[i].Name {
				c.Subsets[i].Apply, known = true, true
			}
		}
		if !known {
			return fmt.Errorf("opt in target %q: not configured; want %s or one of: %s", name, AllTargets, strings.Join(c.names(), ", "))
		}
	}
	return nil
}

func (c *Config) names() []string {
	names := c.targetNames()
	for i := range c.Subsets {
		names = append(names, c.Subsets[i].Name)
	}
	return names
}

func (c *Config) targetNames() []string {
	var names []string
	for i := range c.Targets {
		names = append(names, c.Targets[i].Name)
	}
	for i := range c.Discover {
		names = append(names, c.Discover[i].Name)
	}
	return names
}
