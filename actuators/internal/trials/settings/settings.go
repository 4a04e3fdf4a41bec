// Package settings reads and writes the parameters of programs. Each kind has a file of its own.
package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
)

// Setting is one parameter of one program. Its value is a text on one line.
//
// Read reads the value from the program, or from the file that the program reads, each time. Write returns once the program
// took the value, with an error where the program reports that it did not.
type Setting interface {
	Read(ctx context.Context) (string, error)
	Write(ctx context.Context, value string) error
}

// Config is the block of one kind of setting in the configuration.
type Config interface {
	block.Block
	// Setting returns the setting that a valid block describes.
	Setting() (Setting, error)
}

// kinds makes a block with its defaults, by the key of the block. Every other kind of target is a setting, too, whose
// value is a size.
var kinds = block.Kinds[Config]{
	"file": func() Config { c := DefaultFile(); return &c },
	"http": func() Config { c := DefaultHTTP(); return &c },
	"jmx":  func() Config { c := DefaultJMX(); return &c },
}

// Kinds returns the keys of all kinds, in order.
func Kinds() []string {
	all := append(kinds.Names(), realize.Kinds.Names()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// New returns a block of the kind with its defaults; false for an unknown kind.
func New(kind string) (Config, bool) {
	if fresh, ok := kinds.New(kind); ok {
		return fresh, true
	}
	target, ok := realize.Kinds.New(kind)
	return &Pool{target}, ok
}

// Pool is the block of a kind of target: a pool's size as a setting.
type Pool struct{ realize.Config }

// Setting implements Config.
func (c *Pool) Setting() (Setting, error) {
	target, err := c.Open()
	return poolSetting{target}, err
}

// Block is the value that the keys are decoded into.
func (c *Pool) Block() any { return c.Config }

type poolSetting struct{ target realize.Realizer }

// Read implements Setting.
func (s poolSetting) Read(ctx context.Context) (string, error) {
	size, _, err := s.target.Read(ctx)
	switch {
	case err != nil:
		return "", err
	case size == pool.Unbounded:
		return "unbounded", nil
	}
	return size.String(), nil
}

// Write implements Setting.
func (s poolSetting) Write(ctx context.Context, value string) error {
	size, err := strconv.ParseUint(value, 10, 32)
	if err != nil || size == 0 {
		return fmt.Errorf("write size: %q: want a whole number from 1", value)
	}
	return s.target.Write(ctx, uint32(size))
}
