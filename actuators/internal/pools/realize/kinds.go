package realize

import (
	"maps"
	"slices"
)

// Config is the block of one kind of target in the configuration.
type Config interface {
	// Variables calls fill for each text that may name environment variables, with its key.
	Variables(fill func(text *string, key string))
	// Validate returns every fault, each with its key relative to the block and the legal values.
	Validate() error
	// Open returns the realizer that a valid block describes.
	Open() (Realizer, error)
}

// kinds makes a block with its defaults, by the key of the block. Add a new kind here.
var kinds = map[string]func() Config{
	"file":    func() Config { c := DefaultFile(); return &c },
	"handler": func() Config { c := DefaultHandler(); return &c },
	"hikari":  func() Config { c := DefaultHikari(); return &c },
	"http":    func() Config { c := DefaultHTTP(); return &c },
	"jmx":     func() Config { c := DefaultJMX(); return &c },
	"tomcat":  func() Config { c := DefaultTomcat(); return &c },
}

// Kinds returns the keys of all kinds, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// New returns a block of the kind with its defaults; false for an unknown kind.
func New(kind string) (Config, bool) {
	fresh, ok := kinds[kind]
	if !ok {
		return nil, false
	}
	return fresh(), true
}
