package realize

import (
	"maps"
	"slices"
)

// Config is the block of one kind of target in the configuration.
type Config interface {
	// Variables calls fill with each text that may name environment variables, and its key.
	Variables(fill func(text *string, key string))
	// Validate returns every fault, each with its key relative to the block and what is legal.
	Validate() error
	// Open returns the realizer that a valid block describes.
	Open() (Realizer, error)
}

// kinds has, by the key of its block, how a block begins: with its defaults. Here is where a kind is added.
var kinds = map[string]func() Config{
	"file":    func() Config { c := DefaultFile(); return &c },
	"handler": func() Config { c := DefaultHandler(); return &c },
	"hikari":  func() Config { c := DefaultHikari(); return &c },
	"http":    func() Config { c := DefaultHTTP(); return &c },
	"jmx":     func() Config { c := DefaultJMX(); return &c },
	"tomcat":  func() Config { c := DefaultTomcat(); return &c },
}

// Kinds are the keys of all kinds, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns the block of a kind with its defaults; false for a kind that does not exist.
func New(kind string) (Config, bool) {
	fresh, ok := kinds[kind]
	if !ok {
		return nil, false
	}
	return fresh(), true
}
