package realize

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/program"
)

// FileConfig is the `file` block: the size of a pool in a file that a program reads again when it is notified.
type FileConfig struct {
	// Path of the file, which has to exist. It is replaced as a whole, so that no reader sees half of it.
	Path string `yaml:"path"`
	// Pattern is a regular expression (RE2) with one group, which is the size. Only the group is read and replaced.
	Pattern string `yaml:"pattern"`
	// Config is how the program is notified; its command has the size as SLUICE_SIZE in its environment.
	program.Config `yaml:",squash"`
	// InForce is a command that prints the size in force; by default the file's size counts.
	InForce []string `yaml:"in_force"`
}

// DefaultFile has the default values of a block: the file has a number and nothing else.
func DefaultFile() FileConfig { return FileConfig{Pattern: `^\s*(\d+)\s*$`, Config: program.Default()} }

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
		fault("path: %q: want an existing file", c.Path)
	}
	if pattern, err := regexp.Compile("(?m)" + c.Pattern); err != nil || pattern.NumSubexp() != 1 {
		fault("pattern: %q: want a regular expression with one group, which is the size", c.Pattern)
	}
	return errors.Join(append(faults, c.Config.Validate())...)
}

// Open implements Config.
func (c *FileConfig) Open() (Realizer, error) {
	pattern, err := regexp.Compile("(?m)" + c.Pattern)
	return &file{Lock: disk.NewLock(c.Path), config: *c, pattern: pattern, turn: make(chan struct{}, 1)}, err
}
