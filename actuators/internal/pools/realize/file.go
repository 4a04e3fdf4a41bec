package realize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"regexp"
	"strconv"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/web"
)

// maxFileBytes bounds the bytes that are read of a file.
const maxFileBytes = 1 << 20

// file is a size in a file, which one process at a time owns. When the program could not be notified, it still has the old
// size: the file then gets that back.
type file struct {
	*disk.Lock
	config  FileConfig
	pattern *regexp.Regexp
	turn    chan struct{}
}

// Read implements Realizer.
func (f *file) Read(ctx context.Context) (pool.Size, error) {
	text, err := f.text(ctx)
	if err != nil {
		return pool.Size{}, fmt.Errorf("read size: %w", err)
	}
	size, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 32)
	if err != nil || size == 0 {
		return pool.Size{}, fmt.Errorf("read size: %s has %s: want a whole number from 1 to %d", f.config.Path, web.Excerpt(text), uint32(math.MaxUint32))
	}
	return pool.Of(uint32(size)), errors.Join(ctx.Err())
}

// Write implements Realizer.
func (f *file) Write(ctx context.Context, size uint32) error {
	if size == 0 {
		return errors.New("write size: 0: want at least 1")
	}
	if err := f.put(ctx, strconv.FormatUint(uint64(size), 10), "SLUICE_SIZE"); err != nil {
		return fmt.Errorf("write size %d: %w", size, err)
	}
	return nil
}

// text returns the text of the value: in force, or in the file.
func (f *file) text(ctx context.Context) ([]byte, error) {
	text, at, err := f.found()
	if err != nil {
		return nil, err
	}
	if len(f.config.InForce) > 0 {
		return f.config.Run(ctx, f.config.InForce)
	}
	if old, err := os.ReadFile(f.untold()); err == nil {
		return old, nil
	}
	return text[at[2]:at[3]], nil
}

// untold is a file with the previous value. It exists from before a write until the program was notified. A process that is
// killed in between leaves it, and the program then still has the previous value. Each pattern of a file has its own.
func (f *file) untold() string {
	h := fnv.New32a()
	h.Write([]byte(f.config.Pattern))
	return fmt.Sprintf("%s.untold-%08x", f.config.Path, h.Sum32())
}

// put writes a value and notifies the program, with the value in the variable.
func (f *file) put(ctx context.Context, value, variable string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	}
	before, at, err := f.found()
	if err != nil {
		return err
	}
	after := fmt.Appendf(nil, "%s%s%s", before[:at[2]], value, before[at[3]:])
	nothing := func() error { return nil }
	told, asBefore := nothing, nothing
	if (f.config.Signal != "" || len(f.config.Command) > 0) && len(f.config.InForce) == 0 {
		told = func() error { return os.Remove(f.untold()) }
		if _, err := os.Lstat(f.untold()); errors.Is(err, fs.ErrNotExist) { // else the program still has the value of that file
			if err := disk.Replace(f.untold(), before[at[2]:at[3]], 0o644); err != nil {
				return err
			}
			asBefore = told
		}
	}
	if err := disk.Replace(f.config.Path, after, 0o644); err != nil {
		return err
	}
	if err := f.config.Tell(ctx, variable+"="+value); err != nil {
		return errors.Join(err, disk.Replace(f.config.Path, before, 0o644), asBefore())
	}
	return told()
}

// found returns the file's text, and the positions of the whole match and its group.
func (f *file) found() ([]byte, []int, error) {
	from, err := os.Open(f.config.Path)
	if err != nil {
		return nil, nil, err
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, maxFileBytes+1))
	if err != nil {
		return nil, nil, err
	}
	at := f.pattern.FindSubmatchIndex(text)
	if len(text) > maxFileBytes || at == nil || at[2] < 0 {
		return nil, nil, fmt.Errorf("%s: nothing within %d bytes matches %s", f.config.Path, maxFileBytes, f.config.Pattern)
	}
	return text, at, nil
}
