package realize

import (
	"fmt"

	"sluice.dev/actuators/internal/web"
)

// HandlerConfig is the `handler` block: a pool of a Go, Python or Node program that includes one of actuators/handlers.
type HandlerConfig struct {
	web.Config `yaml:",squash"`
	// URL is the pool's, such as http://127.0.0.1:8099/rows.
	URL string `yaml:"url"`
}

// DefaultHandler has the default values of a block.
func DefaultHandler() HandlerConfig { return HandlerConfig{Config: web.Default()} }

// Variables implements Config.
func (c *HandlerConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.URL, "url")
}

// Validate implements Config.
func (c *HandlerConfig) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if err := web.CheckURL(c.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

// Open implements Config. All handlers have the same HTTP interface, with a size of 0 where there is no limit.
func (c *HandlerConfig) Open() (Realizer, error) {
	none := int64(0)
	h := DefaultHTTP()
	h.Config = c.Config
	h.Read.URL, h.Read.Pointer, h.Read.InForce, h.Read.Unbounded = c.URL, "/size", "/open", &none
	h.Write.URL = c.URL
	return NewHTTP(h)
}
