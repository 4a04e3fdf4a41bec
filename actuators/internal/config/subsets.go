package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/subsets"
)

// Subset is one caller and one service that it calls, and where it is put into force whom it connects to.
type Subset struct {
	Name string `yaml:"name"`
	// Upstream is the service that calls, Instance which container of it, as its spans say, and Downstream the service
	// that is called.
	Upstream   string `yaml:"upstream"`
	Instance   string `yaml:"instance"`
	Downstream string `yaml:"downstream"`
	// Apply is the opt-in; without it what is in force is only read.
	Apply bool `yaml:"apply"`
	// Min is how few members an answer may have.
	Min int64 `yaml:"min"`
	// Within are networks, as 10.0.0.0/8, of one of which each member has to be; none: any address.
	Within []string `yaml:"within"`
	// Cooldown is the least time between two writes.
	Cooldown time.Duration `yaml:"cooldown"`
	// Settle is how long what was written may take to be in force.
	Settle time.Duration `yaml:"settle"`
	// RemoveOnExit takes the subset away when the process is told to stop.
	RemoveOnExit bool `yaml:"remove_on_exit"`
	// Kind is the key of the one block that says where, and Block what it says; the kinds are those of subsets.Kinds.
	Kind  string         `yaml:"-"`
	Block subsets.Config `yaml:"-"`
	// Rest are the keys of the file that are none of the above.
	Rest map[string]any `yaml:",remain"`
}

// DefaultSubset is what each gets unless it says otherwise.
func DefaultSubset() Subset {
	return Subset{Min: 1, Cooldown: 3 * time.Second, Settle: 5 * time.Second}
}

// block finds the kind of the subset, which stands at the key root.
func (s *Subset) block(root string) []error {
	kind, faults := oneKind(root, s.Rest, subsets.Kinds(), "place of a subset")
	if kind == "" {
		return faults
	}
	s.Kind = kind
	s.Block, _ = subsets.New(kind)
	return append(faults, lay(s.Rest[kind], s.Block, root+"."+kind)...)
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
	for _, each := range [][2]string{{"upstream", s.Upstream}, {"instance", s.Instance}, {"downstream", s.Downstream}} {
		if value := each[1]; value == "" || len(value) > maxInstance {
			fault("%s: %q: want 1 to %d bytes", each[0], value, maxInstance)
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
		fault("%s: absent: want where the subset is put into force, one of %s", subsets.Kinds()[0], strings.Join(subsets.Kinds(), ", "))
	} else if err := s.Block.Validate(); err != nil {
		faults = append(faults, below(s.Kind, err))
	}
	return errors.Join(faults...)
}

// Networks are what Within says.
func (s *Subset) Networks() (networks []netip.Prefix) {
	for _, text := range s.Within {
		if network, err := netip.ParsePrefix(text); err == nil {
			networks = append(networks, network.Masked())
		}
	}
	return networks
}

// validateSubsets has each fault of all, and of what they must not share: a name with another or with a target, and what they
// write with another.
func (c *Config) validateSubsets() (faults []error) {
	if len(c.Subsets) > maxTargets {
		faults = append(faults, fmt.Errorf("subsets: %d of them: want %d at most", len(c.Subsets), maxTargets))
	}
	names, keys, places := c.targetNames(), map[[3]string]bool{}, map[string]string{}
	for i := range c.Subsets {
		s := &c.Subsets[i]
		root := fmt.Sprintf("subsets[%d]", i)
		if err := below(root, s.validate()); err != nil {
			faults = append(faults, err)
		}
		if slices.Contains(names, s.Name) {
			faults = append(faults, fmt.Errorf("%s.name: %q: another subset, target or discovery has this name too; want each once", root, s.Name))
		}
		names = append(names, s.Name)
		key := [3]string{s.Upstream, s.Instance, s.Downstream}
		if keys[key] {
			faults = append(faults, fmt.Errorf("%s: %s %s > %s is there twice: want it once", root, s.Upstream, s.Instance, s.Downstream))
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
