package realize

import (
	"sluice.dev/actuators/internal/block"
)

// Config is the block of one kind of target in the configuration.
type Config interface {
	block.Block
	// Open returns the realizer that a valid block describes.
	Open() (Realizer, error)
}

// Kinds has all kinds. Add a new kind here.
var Kinds = block.Kinds[Config]{
	"file":    func() Config { c := DefaultFile(); return &c },
	"handler": func() Config { c := DefaultHandler(); return &c },
	"hikari":  func() Config { c := DefaultHikari(); return &c },
	"http":    func() Config { c := DefaultHTTP(); return &c },
	"jmx":     func() Config { c := DefaultJMX(); return &c },
	"tomcat":  func() Config { c := DefaultTomcat(); return &c },
}
