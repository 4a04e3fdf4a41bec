package realize

import (
	"context"
	"fmt"
	"strings"

	"sluice.dev/actuators/internal/program"
	"sluice.dev/actuators/internal/web"
)

// FileSetting is the `file` block of a parameter: a value in a file that a program reads again when it is notified. Its keys
// are those of a pool in a file. The command has the value as SLUICE_VALUE in its environment.
type FileSetting struct {
	FileConfig `yaml:",squash"`
}

// DefaultFileSetting has the default values of a block: the file has the value and nothing else.
func DefaultFileSetting() FileSetting {
	return FileSetting{FileConfig{Pattern: `\A\s*(.*?)\s*\z`, Config: program.Default()}}
}

// Setting implements SettingConfig.
func (c *FileSetting) Setting() (Setting, error) {
	opened, err := c.Open()
	if err != nil {
		return nil, err
	}
	return fileSetting{opened.(*file)}, nil
}

type fileSetting struct{ file *file }

// Read implements Setting.
func (s fileSetting) Read(ctx context.Context) (string, error) {
	text, err := s.file.text(ctx)
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	value := strings.TrimSpace(string(text))
	if strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("read: %s has %s: want one line", s.file.config.Path, web.Excerpt(text))
	}
	return value, nil
}

// Write implements Setting.
func (s fileSetting) Write(ctx context.Context, value string) error {
	if strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("write %q: want one line", value)
	}
	if err := s.file.put(ctx, value, "SLUICE_VALUE"); err != nil {
		return fmt.Errorf("write %s: %w", value, err)
	}
	return nil
}
