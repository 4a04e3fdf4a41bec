package subsets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"text/template"

	"golang.org/x/sync/semaphore"

	"sluice.dev/actuators/internal/disk"
	"sluice.dev/actuators/internal/web"
)

const (
	// keptAs is the suffix of the file that keeps the text from before the first write.
	keptAs = ".before-sluice"
	// untoldAs is the suffix of a file that exists from before a write until the program was notified. A process that is
	// killed in between leaves it; then it is not known whether the members in the file are in force.
	untoldAs = ".untold-sluice"
)

// file is members in a file, which one process at a time owns. When the program could not be notified, it still has the
// previous members: the file then gets them back.
type file struct {
	*disk.Lock
	config  FileConfig
	line    *template.Template
	pattern *regexp.Regexp
	turn    *semaphore.Weighted
}

// Read implements Realizer.
func (f *file) Read(ctx context.Context) (Set, error) {
	text, err := disk.Read(f.config.Path)
	if _, untold := os.Lstat(f.config.Path + untoldAs); untold == nil && err == nil && len(f.config.InForce) == 0 {
		return nil, ctx.Err()
	}
	if err == nil && len(f.config.InForce) > 0 {
		text, err = f.config.Run(ctx, f.config.InForce)
	}
	var set Set
	if err == nil {
		set, err = f.parse(text)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("read the subset: %w", err)
	}
	return set, nil
}

// Write implements Realizer.
func (f *file) Write(ctx context.Context, set Set) error {
	if len(set) == 0 {
		return errors.New("write the subset: it is empty")
	}
	text, err := f.text(set)
	if err != nil {
		return fmt.Errorf("write the subset: %w", err)
	}
	return f.alone(ctx, func() error {
		kept := f.config.Path + keptAs
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			before, err := disk.Read(f.config.Path)
			if err != nil {
				return fmt.Errorf("write the subset: %w", err)
			}
			if err := disk.Replace(kept, before, 0o644); err != nil {
				return fmt.Errorf("write the subset: keep what was there before: %w", err)
			}
		}
		return f.replace(ctx, text)
	})
}

// Remove implements Realizer.
func (f *file) Remove(ctx context.Context) error {
	return f.alone(ctx, func() error {
		before, err := disk.Read(f.config.Path + keptAs)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = f.replace(ctx, before)
		}
		if err == nil {
			err = os.Remove(f.config.Path + keptAs)
		}
		return err
	})
}

// alone runs one write at a time.
func (f *file) alone(ctx context.Context, do func() error) error {
	if err := f.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer f.turn.Release(1)
	return do()
}

func (f *file) replace(ctx context.Context, text []byte) error {
	_, untold := os.Lstat(f.config.Path + untoldAs)
	before, err := disk.Read(f.config.Path)
	if err == nil {
		err = disk.Replace(f.config.Path+untoldAs, nil, 0o644)
	}
	if err == nil {
		err = disk.Replace(f.config.Path, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the subset: %w", err)
	}
	if err := f.config.Notify(ctx); err != nil {
		err = errors.Join(err, disk.Replace(f.config.Path, before, 0o644))
		if untold != nil { // the program was notified of the restored text
			err = errors.Join(err, os.Remove(f.config.Path+untoldAs))
		}
		return fmt.Errorf("write the subset: %w", err)
	}
	return os.Remove(f.config.Path + untoldAs)
}

// text returns the file's text for a set.
func (f *file) text(set Set) ([]byte, error) {
	var out bytes.Buffer
	for _, m := range set {
		err := f.line.Execute(&out, struct {
			Address, Host string
			Port          uint16
			Weight        uint32
		}{m.Address.String(), m.Address.Addr().String(), m.Address.Port(), m.Weight})
		if err != nil {
			return nil, err
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// parse is the inverse of text; no set where nothing matches the pattern.
func (f *file) parse(text []byte) (Set, error) {
	var members []Member
	for _, match := range f.pattern.FindAllSubmatch(text, -1) {
		word := func(group string) string { return string(match[f.pattern.SubexpIndex(group)]) }
		address, err := netip.ParseAddrPort(word("address"))
		weight, weightErr := strconv.ParseUint(word("weight"), 10, 32)
		if err = errors.Join(err, weightErr); err != nil {
			return nil, fmt.Errorf("%s: %w", web.Excerpt(match[0]), err)
		}
		members = append(members, Member{address, uint32(weight)})
	}
	if members == nil {
		return nil, nil
	}
	return NewSet(members)
}
