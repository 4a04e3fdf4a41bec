package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
)

const (
	// maxSize is the largest legal size of a pool; a larger value is a mistake.
	maxSize = 65535
	// maxInstance is the longest name of an instance in the data plane, in bytes.
	maxInstance = 256
	// maxTargets bounds the goroutines: one process serves the instances of one host.
	maxTargets = 1000
)

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Validate returns every fault, each with its key, its value and the legal values.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if c.Name != "" && !name.MatchString(c.Name) {
		fault("name: %q: want 1 to 128 letters, digits, dots, dashes and underscores", c.Name)
	}
	if err := checkAddress(c.StatusAddress); err != nil {
		fault("status_address: %w", err)
	} else if !c.Expose && !dial.Loopback(c.StatusAddress) {
		fault("status_address: %q: want a loopback address, because its pages have no authentication; SLUICE_HEALTH_EXPOSE=true makes every address legal", c.StatusAddress)
	}
	if err := checkAddress(c.Recommender.Address); err != nil {
		fault("recommender.address: %w", err)
	}
	faults = append(faults,
		within("recommender.interval", c.Recommender.Interval, 100*time.Millisecond, time.Minute),
		within("recommender.timeout", c.Recommender.Timeout, 10*time.Millisecond, time.Minute),
		within("shutdown_grace", c.ShutdownGrace, 0, 5*time.Minute))
	if c.Reports.Queue < 1 || c.Reports.Queue > 100_000 {
		fault("reports.queue: %d: want 1 to 100000", c.Reports.Queue)
	}
	if nothing := c.Targets == nil && len(c.Discover)+len(c.Subsets)+len(c.Containers) == 0; nothing || len(c.Targets) > maxTargets {
		fault("targets: %d of them: want 1 to %d, or [] for none yet", len(c.Targets), maxTargets)
	}
	first := map[string]int{}
	for i := range c.Targets {
		t := &c.Targets[i]
		faults = append(faults, block.Below(fmt.Sprintf("targets[%d]", i), t.validate()))
		if at, twice := first[t.Name]; twice {
			fault("targets[%d].name: %q: targets[%d] has this name too; want each once", i, t.Name, at)
		} else {
			first[t.Name] = i
		}
	}
	begins := map[string]bool{}
	for i := range c.Discover {
		d := &c.Discover[i]
		faults = append(faults, block.Below(fmt.Sprintf("discover[%d]", i), d.validate()))
		if begins[d.Name] {
			fault("discover[%d].name: %q: want each once", i, d.Name)
		}
		begins[d.Name] = true
	}
	faults = append(faults, c.validateSubsets()...)
	faults = append(faults, c.validateContainers()...)
	if c.Kubernetes != nil {
		faults = append(faults, block.Below("kubernetes", c.Kubernetes.Validate()))
	} else if c.inCluster() {
		fault("kubernetes: absent: want the block, {} in a pod, where discover, scaling or containers has kubernetes")
	}
	if len(c.Scaling) > maxTargets {
		fault("scaling: %d of them: want %d at most", len(c.Scaling), maxTargets)
	}
	for i := range c.Scaling {
		faults = append(faults, block.Below(fmt.Sprintf("scaling[%d]", i), c.Scaling[i].validate()))
	}
	return errors.Join(faults...)
}

// inCluster is true where a discovery or a source needs Kubernetes.
func (c *Config) inCluster() bool {
	return slices.ContainsFunc(c.Discover, func(d Discover) bool { return d.Kubernetes != nil }) ||
		slices.ContainsFunc(c.Scaling, func(s Scaling) bool { return s.Kubernetes != nil }) ||
		slices.ContainsFunc(c.Containers, func(s Containers) bool { return s.Kubernetes != nil })
}

func (t *Target) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if !name.MatchString(t.Name) || t.Name == AllTargets {
		fault("name: %q: want 1 to 128 letters, digits, dots, dashes and underscores, and not %q", t.Name, AllTargets)
	}
	if t.Pool.Service == "" {
		fault("pool.service: \"\": want the service.name of the pool's owner")
	}
	if _, err := pool.ParseSide(t.Pool.Side); err != nil {
		fault("pool.side: %w", err)
	}
	if (t.Pool.Side == "client") == (t.Pool.Peer == "") {
		fault("pool.peer: %q: want the callee of a client pool, and nothing for another", t.Pool.Peer)
	}
	if t.Min < 1 || t.Min > maxSize {
		fault("min: %d: want 1 to %d", t.Min, maxSize)
	}
	if t.Max < max(t.Min, 1) || t.Max > maxSize {
		fault("max: %d: want min (%d) to %d", t.Max, t.Min, maxSize)
	}
	if !(t.MaxFactor > 1 && t.MaxFactor <= maxSize) { // so that .nan is refused too
		fault("max_factor: %g: want more than 1, up to %d", t.MaxFactor, maxSize)
	}
	if t.ChangesPerHour < 0 || t.ChangesPerHour > 3600 {
		fault("changes_per_hour: %d: want 0 (no limit) to 3600", t.ChangesPerHour)
	}
	for i, text := range t.QuietHours {
		if _, err := policy.ParseHours(text); err != nil {
			fault("quiet_hours[%d]: %w", i, err)
		}
	}
	if len(t.Instance) > maxInstance {
		fault("instance: %d bytes: want %d at most", len(t.Instance), maxInstance)
	}
	faults = append(faults,
		within("cooldown", t.Cooldown, 0, time.Hour),
		within("settle", t.Settle, 0, 5*time.Minute))
	if t.SLO != 0 {
		faults = append(faults, within("slo", t.SLO, pool.ShortestSLO, pool.LongestSLO))
	}
	if t.Block == nil {
		fault("http: absent: want the kind of target, one of %s", strings.Join(realize.Kinds.Names(), ", "))
	} else {
		faults = append(faults, block.Below(t.Kind, t.Block.Validate()))
	}
	return errors.Join(faults...)
}

func within(key string, value, low, high time.Duration) error {
	if value < low || value > high {
		return fmt.Errorf("%s: %s: want %s to %s", key, value, low, high)
	}
	return nil
}

func (s *Scaling) validate() error {
	var faults []error
	if s.Service == "" {
		faults = append(faults, errors.New(`service: "": want the service.name of the scaled service`))
	}
	if s.Interval != 0 {
		faults = append(faults, within("interval", s.Interval, 100*time.Millisecond, time.Hour))
	}
	kinds := 0
	check := func(key string, there bool, validate func() error) {
		if !there {
			return
		}
		kinds++
		faults = append(faults, block.Below(key, validate()))
	}
	check("http", s.HTTP != nil, func() error { return s.HTTP.Validate() })
	check("file", s.File != nil, func() error { return s.File.Validate() })
	check("cgroup", s.Cgroup != nil, func() error { return s.Cgroup.Validate() })
	check("kubernetes", s.Kubernetes != nil, func() error { return s.Kubernetes.Validate() })
	if kinds != 1 {
		faults = append(faults, fmt.Errorf("http: %d kinds of source: want exactly one of http, file, cgroup and kubernetes", kinds))
	}
	return errors.Join(faults...)
}
