package realize

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/program"
)

// FileConfig is the `file` block: a pool whose size stands in a file that a program reads again when it is told to.
type FileConfig struct {
	// Path of the file, which is there. It is replaced as a whole, so that nobody reads half of it.
	Path string `yaml:"path"`
	// Pattern is a regular expression (RE2) with one group, which is the size: it is read and written there, and the rest
	// of the file stays.
	Pattern string `yaml:"pattern"`
	// Config is how the program is told; its command has the size as SLUICE_SIZE in its environment.
	program.Config `yaml:",squash"`
	// InForce is a command that prints the size in force; absent, the file's is taken for it.
	InForce []string `yaml:"in_force"`
}

// DefaultFile is what a block has unless it says otherwise: the file is a number and nothing else.
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
		fault("path: %q: want a file that is there", c.Path)
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
