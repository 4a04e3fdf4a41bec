package scaling

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/web"
)

// HTTPConfig is the `http` block of a scaling source: a JSON document behind a URL, such as an autoscaler's status or
// the Kubernetes API's deployment.
type HTTPConfig struct {
	web.Config `yaml:",squash"`
	URL        string   `yaml:"url"`
	Read       Pointers `yaml:"read"`
}

// DefaultHTTP has the default values of a source.
func DefaultHTTP() HTTPConfig { return HTTPConfig{Config: web.Default()} }

// Validate returns every fault, each with its key relative to this block and the legal values.
func (c HTTPConfig) Validate() error {
	var faults []error
	if err := c.Config.Validate(); err != nil {
		faults = append(faults, err)
	}
	if err := web.CheckURL(c.URL); err != nil {
		faults = append(faults, fmt.Errorf("url: %w", err))
	}
	return errors.Join(append(faults, block.Below("read", c.Read.Validate()))...)
}

// HTTP gets the document each time.
type HTTP struct {
	config HTTPConfig
	client *web.Client
}

// NewHTTP returns the source that a valid block describes. Errors: its TLS files have no certificate or key.
func NewHTTP(config HTTPConfig) (HTTP, error) {
	client, err := web.NewClient(config.Config, config.URL)
	return HTTP{config, client}, err
}

// Read implements Source. Its errors show no credentials.
func (h HTTP) Read(ctx context.Context) (Reading, error) {
	text, err := h.client.Do(ctx, web.Request{Method: http.MethodGet, URL: h.config.URL}, http.StatusOK)
	if err != nil {
		return Reading{}, err
	}
	reading, err := h.config.Read.read(text)
	if err != nil {
		return Reading{}, h.client.Hide(fmt.Errorf("GET %s: %w", h.config.URL, err))
	}
	return reading, nil
}
