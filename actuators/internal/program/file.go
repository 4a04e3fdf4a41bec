package program

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"regexp"

	"golang.org/x/sync/semaphore"

	"sluice.dev/actuators/internal/disk"
)

// FileConfig is the `file` block: a value in a file that a program reads again when it is notified.
type FileConfig struct {
	// Path of the file, which has to exist. It is replaced as a whole, so that no reader sees half of it.
	Path string `yaml:"path"`
	// Pattern is a regular expression (RE2) with one group, which is the value. Only the group is read and replaced.
	Pattern string `yaml:"pattern"`
	// Config is how the program is notified.
	Config `yaml:",squash"`
	// InForce is a command that prints the value in force; by default the file's value counts.
	InForce []string `yaml:"in_force"`
}

// Variables calls fill for each text that may name environment variables, with its key.
func (c *FileConfig) Variables(fill func(text *string, key string)) {
	fill(&c.Path, "path")
	fill(&c.PIDFile, "pid_file")
}

// Validate returns every fault, each with its key and the legal values.
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

// OpenFile returns the file that a valid block describes.
func (c *FileConfig) OpenFile() (*File, error) {
	pattern, err := regexp.Compile("(?m)" + c.Pattern)
	return &File{Lock: disk.NewLock(c.Path), config: *c, pattern: pattern, turn: semaphore.NewWeighted(1)}, err
}

// File is a value in a file, which one process at a time owns. When the program could not be notified, it still has the
// previous value: the file then gets that back.
type File struct {
	*disk.Lock
	config  FileConfig
	pattern *regexp.Regexp
	turn    *semaphore.Weighted
}

// Path is the path of the file.
func (f *File) Path() string { return f.config.Path }

// Text returns the text of the value: in force, or in the file.
func (f *File) Text(ctx context.Context) ([]byte, error) {
	text, at, err := f.match()
	if err != nil {
		return nil, err
	}
	if len(f.config.InForce) > 0 {
		return f.config.Run(ctx, f.config.InForce)
	}
	if old, err := os.ReadFile(f.pendingPath()); err == nil {
		return old, nil
	}
	return text[at[2]:at[3]], nil
}

// pendingPath is of a file with the previous value. It exists from before a write until the program was notified. A process
// that is killed in between leaves it, and the program then still has the previous value. Each pattern of a file has its own.
func (f *File) pendingPath() string {
	h := fnv.New32a()
	h.Write([]byte(f.config.Pattern))
	return fmt.Sprintf("%s.untold-%08x", f.config.Path, h.Sum32())
}

// Put writes a value and notifies the program, with the value in the variable.
func (f *File) Put(ctx context.Context, value, variable string) error {
	if err := f.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer f.turn.Release(1)
	before, at, err := f.match()
	if err != nil {
		return err
	}
	after := fmt.Appendf(nil, "%s%s%s", before[:at[2]], value, before[at[3]:])
	nothing := func() error { return nil }
	notified, asBefore := nothing, nothing
	if (f.config.Signal != "" || len(f.config.Command) > 0) && len(f.config.InForce) == 0 {
		notified = func() error { return os.Remove(f.pendingPath()) }
		if _, err := os.Lstat(f.pendingPath()); errors.Is(err, fs.ErrNotExist) { // else the program still has the value of that file
			if err := disk.Replace(f.pendingPath(), before[at[2]:at[3]], 0o644); err != nil {
				return err
			}
			asBefore = notified
		}
	}
	if err := disk.Replace(f.config.Path, after, 0o644); err != nil {
		return err
	}
	if err := f.config.Notify(ctx, variable+"="+value); err != nil {
		return errors.Join(err, disk.Replace(f.config.Path, before, 0o644), asBefore())
	}
	return notified()
}

// match returns the file's text, and the positions of the whole match and its group.
func (f *File) match() ([]byte, []int, error) {
	text, err := disk.Read(f.config.Path)
	if err != nil {
		return nil, nil, err
	}
	at := f.pattern.FindSubmatchIndex(text)
	if at == nil || at[2] < 0 {
		return nil, nil, fmt.Errorf("%s: nothing within %d bytes matches %s", f.config.Path, disk.MaxBytes, f.config.Pattern)
	}
	return text, at, nil
}
