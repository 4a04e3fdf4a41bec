// Package config is the actuator's one configuration file: its keys, their defaults, what is legal.
package config

import (
	"time"

	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/realize"
	"sluice.dev/actuators/internal/scaling"
)

// Config is the whole file.
type Config struct {
	// Name of this process in reports and in the audit table; the host's name when absent.
	Name string `yaml:"name"`
	// StatusAddress serves /healthz, /status and /metrics: HOST:PORT or http://HOST:PORT.
	StatusAddress string      `yaml:"status_address"`
	Recommender   Recommender `yaml:"recommender"`
	Reports       Reports     `yaml:"reports"`
	// ShutdownGrace bounds how long SIGTERM waits for the writes under way.
	ShutdownGrace time.Duration `yaml:"shutdown_grace"`
	// State is a folder for what outlives the process: intents, cool-downs, original sizes. Without it they end with the
	// process. One process at a time has it.
	State string `yaml:"state"`
	// KillSwitch is a path: while something is there, nothing is written to any target.
	KillSwitch string   `yaml:"kill_switch"`
	Targets    []Target `yaml:"targets"`
	// Discover are pools whose instances come and go.
	Discover []Discover `yaml:"discover"`
	// Subsets are callers that do not speak xDS, and whom they connect to.
	Subsets []Subset `yaml:"subsets"`
	// Scaling says what the hardware and the release of services are: changes are told to the recommender.
	Scaling []Scaling `yaml:"scaling"`
	// Kubernetes is the cluster that this process looks at and tells of what it does; none when absent.
	Kubernetes *kube.Config `yaml:"kubernetes"`
}

// Recommender says where the sizes come from, and how often targets are looked at.
type Recommender struct {
	// Address is HOST:PORT.
	Address string `yaml:"address"`
	// Interval lies between two readings of a target, and of a source of scaling. Answers come by themselves.
	Interval time.Duration `yaml:"interval"`
	// Timeout bounds each call but the watch, which has no end.
	Timeout time.Duration `yaml:"timeout"`
}

// Reports is the queue of what was seen and done, towards the recommender.
type Reports struct {
	// Queue is how many reports of writes and refusals may wait; beyond it the oldest is dropped, and counted.
	Queue int `yaml:"queue"`
}

// Target is one pool of one instance.
type Target struct {
	Name string `yaml:"name"`
	// Instance is which replica of the service the target is, as its spans say; the target's name when absent.
	Instance string `yaml:"instance"`
	Pool     Pool   `yaml:"pool"`
	// Apply is the opt-in; without it the target is only read.
	Apply bool `yaml:"apply"`
	// Min and Max bound what may be written, inclusive. int64, so that a value out of range can be quoted.
	Min int64 `yaml:"min"`
	Max int64 `yaml:"max"`
	// MaxFactor is how much larger, or smaller, one write may make the pool than a size that was in force: the one
	// read, the one written last and read back, or another instance's. Beyond that it goes in steps.
	MaxFactor float64 `yaml:"max_factor"`
	// Cooldown is the least time between two writes; what somebody else changed is put right once without it.
	Cooldown time.Duration `yaml:"cooldown"`
	// ChangesPerHour is how many writes an hour may have, however many are asked for; 0 is no limit.
	ChangesPerHour int64 `yaml:"changes_per_hour"`
	// QuietHours are times of day in UTC, as 22:00-06:00, in which nothing is written.
	QuietHours []string `yaml:"quiet_hours"`
	// RestoreOnExit puts the size of before the first write back when the process is told to stop.
	RestoreOnExit bool `yaml:"restore_on_exit"`
	// Settle is how long the size that was written may take to be in force.
	Settle time.Duration `yaml:"settle"`
	// Kind is the key of the one block that says how the target is read and written, and Block what it says; the kinds are
	// those of realize.Kinds.
	Kind  string         `yaml:"-"`
	Block realize.Config `yaml:"-"`
	// Rest are the keys of the file that are none of the above.
	Rest map[string]any `yaml:",remain"`
}

// Pool names the soft resource as the recommender does.
type Pool struct {
	Service string `yaml:"service"`
	Side    string `yaml:"side"`
	Peer    string `yaml:"peer"`
}

// Scaling is where one service's CPU limit, replicas or version can be read.
type Scaling struct {
	Service string `yaml:"service"`
	// Interval lies between two readings. When absent it is that of the recommender, and half a second at most where a
	// reading is one of this host's files.
	Interval time.Duration `yaml:"interval"`
	// HTTP, File, Cgroup and Kubernetes are the kinds of source, exactly one of which is there.
	HTTP   *scaling.HTTPConfig   `yaml:"http"`
	File   *scaling.FileConfig   `yaml:"file"`
	Cgroup *scaling.CgroupConfig `yaml:"cgroup"`
	// Kubernetes has replicas, limit and version of one workload.
	Kubernetes *kube.WorkloadConfig `yaml:"kubernetes"`
}

// Default is what a file gets unless it says otherwise. The addresses are the local stack's.
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

// DefaultTarget is what each target gets unless it says otherwise; min and max have no default.
func DefaultTarget() Target {
	return Target{MaxFactor: 2, Cooldown: time.Second, ChangesPerHour: 240, Settle: 5 * time.Second}
}
