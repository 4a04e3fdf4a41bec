package settings

import (
	"context"
	"fmt"
	"strings"

	"sluice.dev/actuators/internal/program"
	"sluice.dev/actuators/internal/web"
)

// File is the `file` block of a parameter: a value in a file that a program reads again when it is notified. Its keys are
// those of a pool in a file. The command has the value as SLUICE_VALUE in its environment.
type File struct {
	program.FileConfig `yaml:",squash"`
}

// DefaultFile has the default values of a block: the file has the value and nothing else.
func DefaultFile() File {
	return File{program.FileConfig{Pattern: `\A\s*(.*?)\s*\z`, Config: program.Default()}}
}

// Setting implements Config.
func (c *File) Setting() (Setting, error) {
	opened, err := c.OpenFile()
	return file{opened}, err
}

type file struct{ *program.File }

// Read implements Setting.
func (f file) Read(ctx context.Context) (string, error) {
	text, err := f.Text(ctx)
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	value := strings.TrimSpace(string(text))
	if strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("read: %s has %s: want one line", f.Path(), web.Excerpt(text))
	}
	return value, nil
}

// Write implements Setting.
func (f file) Write(ctx context.Context, value string) error {
	if strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("write %q: want one line", value)
	}
	if err := f.Put(ctx, value, "SLUICE_VALUE"); err != nil {
		return fmt.Errorf("write %s: %w", value, err)
	}
	return nil
}
