package subsets

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/sync/semaphore"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/program"
)

// FileConfig is the `file` block: members in a file, one a line, that a program reads again when it is notified.
type FileConfig struct {
	// Path of the file, which has to exist. Until the first write it has the members that the program connects to by default.
	// It is replaced as a whole, so that no reader sees half of it.
	Path string `yaml:"path"`
	// Line is a Go template of one member: {{.Address}} is IP:PORT, {{.Host}} and {{.Port}} its parts, {{.Weight}} its share.
	Line string `yaml:"line"`
	// Pattern is a regular expression (RE2) that matches a member as Line writes it, with the groups `address` and `weight`.
	Pattern string `yaml:"pattern"`
	// Config is how the program is notified.
	program.Config `yaml:",squash"`
	// InForce is a command that prints the members in force, in the form of the file; without it, the file's members count.
	InForce []string `yaml:"in_force"`
}

// DefaultFile has the default values of a block.
func DefaultFile() FileConfig {
	return FileConfig{
		Line: `{{.Address}} {{.Weight}}`, Pattern: `^(?P<address>\S+) (?P<weight>\d+)$`, Config: program.Default(),
	}
}

// Variables implements Config.
func (c *FileConfig) Variables(fill func(text *string, key string)) {
	fill(&c.Path, "path")
	fill(&c.PIDFile, "pid_file")
}

// Validate implements Config.
func (c *FileConfig) Validate() error {
	var faults []error
	if info, err := os.Stat(c.Path); err != nil || !info.Mode().IsRegular() {
		faults = append(faults, fmt.Errorf("path: %q: want an existing file", c.Path))
	}
	return errors.Join(append(faults, c.readable(), c.Config.Validate())...)
}

// readable checks that pattern finds what line writes.
func (c *FileConfig) readable() error {
	f, err := c.open()
	if err != nil {
		return err
	}
	sample := Set{
		{netip.MustParseAddrPort("192.0.2.1:80"), 2}, {netip.MustParseAddrPort("192.0.2.2:8080"), 1},
		{netip.MustParseAddrPort("[2001:db8::1]:80"), 3},
	}
	text, err := f.text(sample)
	if err != nil {
		return fmt.Errorf("line: %q: want a Go template that uses {{.Address}}, {{.Host}}, {{.Port}} and {{.Weight}} only: %w", c.Line, err)
	}
	if parsed, err := f.parse(text); err != nil || !parsed.Equal(sample) {
		return fmt.Errorf("pattern: %q: want one that matches the text %q, which line writes", c.Pattern, strings.SplitAfter(string(text), "\n")[0])
	}
	return nil
}

// Place implements Config.
func (c *FileConfig) Place() string {
	if behind, err := filepath.EvalSymlinks(c.Path); err == nil {
		return behind
	}
	return c.Path
}

// Open implements Config.
func (c *FileConfig) Open(string) (Realizer, error) { return c.open() }

func (c *FileConfig) open() (*file, error) {
	line, err := template.New("line").Parse(c.Line)
	if err != nil {
		return nil, fmt.Errorf("line: %q: want a Go template: %w", c.Line, err)
	}
	pattern, err := regexp.Compile("(?m)" + c.Pattern)
	if err != nil || !slices.Contains(pattern.SubexpNames(), "address") || !slices.Contains(pattern.SubexpNames(), "weight") {
		return nil, fmt.Errorf("pattern: %q: want a regular expression with the groups (?P<address>...) and (?P<weight>...)", c.Pattern)
	}
	return &file{Lock: disk.NewLock(c.Path), config: *c, line: line, pattern: pattern, turn: semaphore.NewWeighted(1)}, nil
}
