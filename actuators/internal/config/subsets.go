package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/subsets"
)

// Subset is the connection subset of one caller at one service, and the place where it is written.
type Subset struct {
	Name string `yaml:"name"`
	// Upstream is the calling service, Instance the calling container, as its spans name it, and Downstream the called
	// service.
	Upstream   string `yaml:"upstream"`
	Instance   string `yaml:"instance"`
	Downstream string `yaml:"downstream"`
	// Apply is the opt-in; without it the subset in force is only read.
	Apply bool `yaml:"apply"`
	// Min is the least number of members that a subset may have.
	Min int64 `yaml:"min"`
	// Within are networks, as 10.0.0.0/8. Each member has to be in one of them; without any, every address is legal.
	Within []string `yaml:"within"`
	// Cooldown is the least time between two writes.
	Cooldown time.Duration `yaml:"cooldown"`
	// Settle is how long a written subset may take to come into force.
	Settle time.Duration `yaml:"settle"`
	// RemoveOnExit removes the subset on SIGTERM.
	RemoveOnExit bool `yaml:"remove_on_exit"`
	// Kind is the key of the one block that describes the place, and Block its content. subsets.Kinds lists the kinds.
	Kind  string         `yaml:"-"`
	Block subsets.Config `yaml:"-"`
	// Rest are all other keys of the file.
	Rest map[string]any `yaml:",remain"`
}

// DefaultSubset has the default values of a subset.
func DefaultSubset() Subset {
	return Subset{Min: 1, Cooldown: 3 * time.Second, Settle: 5 * time.Second}
}

// block finds the kind of the subset at the key root.
func (s *Subset) block(root string) (faults []error) {
	s.Kind, s.Block, faults = oneBlock(root, s.Rest, subsets.Kinds, "place of a subset")
	return faults
}

func (s *Subset) expand(root string, lookup func(string) (string, bool)) error {
	f := filler{lookup: lookup, root: root + "."}
	f.fill(&s.Instance, "instance")
	if s.Block != nil {
		f.block(s.Kind, s.Block)
	}
	return errors.Join(f.faults...)
}

func (s *Subset) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !name.MatchString(s.Name) || s.Name == AllTargets {
		fault("name: %q: want 1 to 128 letters, digits, dots, dashes and underscores, and not %q", s.Name, AllTargets)
	}
	for _, key := range [][2]string{{"upstream", s.Upstream}, {"instance", s.Instance}, {"downstream", s.Downstream}} {
		if value := key[1]; value == "" || len(value) > maxInstance {
			fault("%s: %q: want 1 to %d bytes", key[0], value, maxInstance)
		}
	}
	if s.Min < 1 || s.Min > subsets.MaxSlots {
		fault("min: %d: want 1 to %d", s.Min, subsets.MaxSlots)
	}
	for i, text := range s.Within {
		if _, err := netip.ParsePrefix(text); err != nil {
			fault("within[%d]: %q: want a network such as 10.0.0.0/8", i, text)
		}
	}
	faults = append(faults, within("cooldown", s.Cooldown, 0, time.Hour), within("settle", s.Settle, 0, 5*time.Minute))
	if s.Block == nil {
		fault("%s: absent: want the place of the subset, one of %s", subsets.Kinds.Names()[0], strings.Join(subsets.Kinds.Names(), ", "))
	} else {
		faults = append(faults, block.Below(s.Kind, s.Block.Validate()))
	}
	return errors.Join(faults...)
}

// Networks returns Within as prefixes.
func (s *Subset) Networks() (networks []netip.Prefix) {
	for _, text := range s.Within {
		if network, err := netip.ParsePrefix(text); err == nil {
			networks = append(networks, network.Masked())
		}
	}
	return networks
}

// validateSubsets returns each fault of the subsets, also a name or a place that two subsets share, or a name that a subset
// shares with a target.
func (c *Config) validateSubsets() (faults []error) {
	if len(c.Subsets) > maxTargets {
		faults = append(faults, fmt.Errorf("subsets: %d of them: want %d at most", len(c.Subsets), maxTargets))
	}
	names, keys, places := c.targetNames(), map[[3]string]bool{}, map[string]string{}
	for i := range c.Subsets {
		s := &c.Subsets[i]
		root := fmt.Sprintf("subsets[%d]", i)
		faults = append(faults, block.Below(root, s.validate()))
		if slices.Contains(names, s.Name) {
			faults = append(faults, fmt.Errorf("%s.name: %q: another subset, target or discovery has this name too; want each once", root, s.Name))
		}
		names = append(names, s.Name)
		key := [3]string{s.Upstream, s.Instance, s.Downstream}
		if keys[key] {
			faults = append(faults, fmt.Errorf("%s: %s %s > %s is configured twice: want it once", root, s.Upstream, s.Instance, s.Downstream))
		}
		keys[key] = true
		if s.Block == nil {
			continue
		}
		place := s.Kind + " " + s.Block.Place()
		if first, taken := places[place]; taken {
			faults = append(faults, fmt.Errorf("%s.%s: %s writes there too: want a place for each", root, s.Kind, first))
		}
		places[place] = s.Name
	}
	return faults
}
