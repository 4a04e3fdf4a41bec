package realize

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/program"
	"sluice.dev/actuators/internal/web"
)

// FileConfig is the `file` block: the size of a pool in a file. The command that notifies the program has the size as
// SLUICE_SIZE in its environment.
type FileConfig struct {
	program.FileConfig `yaml:",squash"`
}

// DefaultFile has the default values of a block: the file has a number and nothing else.
func DefaultFile() FileConfig {
	return FileConfig{program.FileConfig{Pattern: `^\s*(\d+)\s*$`, Config: program.Default()}}
}

// Open implements Config.
func (c *FileConfig) Open() (Realizer, error) {
	opened, err := c.OpenFile()
	return &file{opened}, err
}

// file is a size in a file.
type file struct{ *program.File }

// Read implements Realizer.
func (f *file) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	text, err := f.Text(ctx)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %w", err)
	}
	size, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 32)
	if err != nil || size == 0 {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %s has %s: want a whole number from 1 to %d", f.Path(), web.Excerpt(text), uint32(math.MaxUint32))
	}
	return pool.Of(uint32(size)), pool.Use{}, ctx.Err()
}

// Write implements Realizer.
func (f *file) Write(ctx context.Context, size uint32) error {
	return writing(size, func() error { return f.Put(ctx, strconv.FormatUint(uint64(size), 10), "SLUICE_SIZE") })
}
