package realize

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// FileConfig is the `file` block: a pool whose size stands in a file that a program reads again when it is told to.
type FileConfig struct {
	// Path of the file, which is there. It is replaced as a whole, so that nobody reads half of it.
	Path string `yaml:"path"`
	// Pattern is a regular expression (RE2) with one group, which is the size: it is read and written there, and the rest
	// of the file stays.
	Pattern string `yaml:"pattern"`
	// Signal is sent after a write to the process whose number stands in PIDFile.
	Signal  string `yaml:"signal"`
	PIDFile string `yaml:"pid_file"`
	// Command is run after a write, without a shell, with the size as SLUICE_SIZE in its environment.
	Command []string `yaml:"command"`
	// InForce is a command that prints the size in force; absent, the file's is taken for it.
	InForce []string `yaml:"in_force"`
	// Timeout bounds each command.
	Timeout time.Duration `yaml:"timeout"`
}

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH,
}

// DefaultFile is what a block has unless it says otherwise: the file is a number and nothing else.
func DefaultFile() FileConfig { return FileConfig{Pattern: `^\s*(\d+)\s*$`, Timeout: 5 * time.Second} }

// Variables implements Config.
func (c *FileConfig) Variables(fill func(text *string, key string)) {
	fill(&c.Path, "path")
	fill(&c.PIDFile, "pid_file")
}

// Validate implements Config.
func (c *FileConfig) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if info, err := os.Stat(c.Path); err != nil || !info.Mode().IsRegular() {
		fault("path: %q: want a file that is there", c.Path)
	}
	if pattern, err := regexp.Compile("(?m)" + c.Pattern); err != nil || pattern.NumSubexp() != 1 {
		fault("pattern: %q: want a regular expression with one group, which is the size", c.Pattern)
	}
	if _, ok := signals[c.Signal]; c.Signal != "" && !ok {
		fault("signal: %q: want one of %s", c.Signal, strings.Join(slices.Sorted(maps.Keys(signals)), ", "))
	}
	if (c.Signal == "") != (c.PIDFile == "") {
		fault("pid_file: %q: want signal and pid_file together, or neither", c.PIDFile)
	}
	if c.Timeout < time.Millisecond || c.Timeout > time.Minute {
		fault("timeout: %s: want 1ms to 1m", c.Timeout)
	}
	return errors.Join(faults...)
}

// Open implements Config.
func (c *FileConfig) Open() (Realizer, error) {
	pattern, err := regexp.Compile("(?m)" + c.Pattern)
	return &file{config: *c, pattern: pattern, turn: make(chan struct{}, 1)}, err
}
