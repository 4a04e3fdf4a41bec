// Package config reads the actuator's configuration file: its keys, their defaults, and the legal values.
package config

import (
	"crypto/sha256"
	"time"

	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/scaling"
)

// Config is the whole file.
type Config struct {
	// Name of this process in reports and in the audit table; by default the host's name.
	Name string `yaml:"name"`
	// StatusAddress serves /livez, /readyz, /status and /metrics: HOST:PORT or http://HOST:PORT. SLUICE_HEALTH replaces it.
	StatusAddress string `yaml:"status_address"`
	// Expose is SLUICE_HEALTH_EXPOSE: StatusAddress may be an address that other hosts reach.
	Expose      bool        `yaml:"-"`
	Recommender Recommender `yaml:"recommender"`
	Reports     Reports     `yaml:"reports"`
	// ShutdownGrace bounds how long SIGTERM waits for the writes under way.
	ShutdownGrace time.Duration `yaml:"shutdown_grace"`
	// State is a folder for the state that outlives the process: intents, cool-downs, original sizes. Without it they end
	// with the process. One process at a time has it.
	State string `yaml:"state"`
	// KillSwitch is a path: while something exists there, no target is written.
	KillSwitch string   `yaml:"kill_switch"`
	Targets    []Target `yaml:"targets"`
	// Discover are pools whose instances come and go.
	Discover []Discover `yaml:"discover"`
	// Subsets are the connection subsets of callers that do not speak xDS.
	Subsets []Subset `yaml:"subsets"`
	// Scaling lists where the hardware and the version of services can be read. The recommender is notified of changes.
	Scaling []Scaling `yaml:"scaling"`
	// Containers lists services whose containers are reported to the recommender, for subsets.
	Containers []Containers `yaml:"containers"`
	// Kubernetes is the cluster that this process watches and writes Events and Leases to; nil for none.
	Kubernetes *kube.Config `yaml:"kubernetes"`
	// Digest is that of the content of the file, Document the content as written, by key.
	Digest   [sha256.Size]byte `yaml:"-"`
	Document map[string]any    `yaml:"-"`
}

// Recommender is where decisions come from, and how often targets are read.
type Recommender struct {
	// Address is HOST:PORT.
	Address string `yaml:"address"`
	// Interval lies between two readings of a target, and of a scaling source. Decisions are streamed.
	Interval time.Duration `yaml:"interval"`
	// Timeout bounds each call but the watch, which has no end.
	Timeout time.Duration `yaml:"timeout"`
}

// Reports is the queue of reports to the recommender.
type Reports struct {
	// Queue is how many reports of writes and refusals may wait. Beyond it the oldest is dropped, and counted.
	Queue int `yaml:"queue"`
}

// Target is one pool of one instance.
type Target struct {
	Name string `yaml:"name"`
	// Instance is the replica of the service, as its spans name it; by default the target's name.
	Instance string `yaml:"instance"`
	Pool     Pool   `yaml:"pool"`
	// Apply is the opt-in; without it the target is only read.
	Apply bool `yaml:"apply"`
	// Min and Max bound the sizes that may be written, inclusive. int64, so that an error can quote a value out of range.
	Min int64 `yaml:"min"`
	Max int64 `yaml:"max"`
	// MaxFactor bounds the ratio of a written size to a size that was in force: the one read, the one written last and read
	// back, or another instance's. A larger change goes in steps.
	MaxFactor float64 `yaml:"max_factor"`
	// Cooldown is the least time between two writes. A size that somebody else changed is put right once without it.
	Cooldown time.Duration `yaml:"cooldown"`
	// ChangesPerHour bounds the writes of an hour; 0 is no limit.
	ChangesPerHour int64 `yaml:"changes_per_hour"`
	// QuietHours are times of day in UTC, as 22:00-06:00, without writes.
	QuietHours []string `yaml:"quiet_hours"`
	// RestoreOnExit writes the original size back on SIGTERM.
	RestoreOnExit bool `yaml:"restore_on_exit"`
	// Settle is how long a written size may take to come into force.
	Settle time.Duration `yaml:"settle"`
	// SLO of the pool's service goes to the recommender with each report; 0 is none.
	SLO time.Duration `yaml:"slo"`
	// Kind is the key of the one block that describes how the target is read and written, and Block its content.
	// realize.Kinds lists the kinds.
	Kind  string         `yaml:"-"`
	Block realize.Config `yaml:"-"`
	// Rest are all other keys of the file.
	Rest map[string]any `yaml:",remain"`
}

// Pool names the pool as the recommender does.
type Pool struct {
	Service string `yaml:"service"`
	Side    string `yaml:"side"`
	Peer    string `yaml:"peer"`
}

// Scaling is the source of one service's CPU limit, replicas or version.
type Scaling struct {
	Service string `yaml:"service"`
	// Interval lies between two readings. By default it is that of the recommender, and at most half a second for a source in
	// this host's files.
	Interval time.Duration `yaml:"interval"`
	// HTTP, File, Cgroup and Kubernetes are the kinds of source; exactly one is set.
	HTTP   *scaling.HTTPConfig   `yaml:"http"`
	File   *scaling.FileConfig   `yaml:"file"`
	Cgroup *scaling.CgroupConfig `yaml:"cgroup"`
	// Kubernetes has replicas, limit and version of one workload.
	Kubernetes *kube.WorkloadConfig `yaml:"kubernetes"`
}

// Default has the default values of a file. The addresses are the local stack's.
func Default() Config {
	return Config{
		StatusAddress: "127.0.0.1:8091",
		Recommender: Recommender{
			Address:  "127.0.0.1:50051",
			Interval: 2 * time.Second,
			Timeout:  2 * time.Second,
		},
		Reports:       Reports{Queue: 10_000}, // 10 of each of 1,000 targets
		ShutdownGrace: 6 * time.Second,
	}
}

// DefaultTarget has the default values of a target; min and max have no default.
func DefaultTarget() Target {
	return Target{MaxFactor: 2, Cooldown: time.Second, ChangesPerHour: 240, Settle: 5 * time.Second}
}
