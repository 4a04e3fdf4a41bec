package scaling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sluice.dev/actuators/internal/redact"
)

// HTTPConfig is the `http` block of a scaling source: a JSON document behind a URL, such as an autoscaler's status or
// the Kubernetes API's deployment.
type HTTPConfig struct {
	URL string `yaml:"url"`
	// Timeout bounds each request, connecting and reading included.
	Timeout time.Duration `yaml:"timeout"`
	// Headers go with every request. Values may name environment variables: they hold the secrets.
	Headers map[string]string `yaml:"headers"`
	Read    Pointers          `yaml:"read"`
}

// DefaultHTTP is what a source has unless it says otherwise.
func DefaultHTTP() HTTPConfig { return HTTPConfig{Timeout: 2 * time.Second} }

// Validate returns every fault, each with its key relative to this block and what is legal.
func (c HTTPConfig) Validate() error {
	var faults []error
	if u, err := url.Parse(c.URL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		faults = append(faults, fmt.Errorf("url: %q: want http://HOST... or https://HOST...", c.URL))
	}
	if c.Timeout < time.Millisecond || c.Timeout > time.Minute {
		faults = append(faults, fmt.Errorf("timeout: %s: want 1ms to 1m", c.Timeout))
	}
	return errors.Join(append(faults, under("read", c.Read.Validate()))...)
}

// HTTP gets the document each time.
type HTTP struct{ Config HTTPConfig }

// Read implements Source. Its errors show no credentials.
func (h HTTP) Read(ctx context.Context) (Reading, error) {
	reading, err := h.read(ctx)
	return reading, redact.Of(h.Config.Headers, h.Config.URL).Error(err)
}

func (h HTTP) read(ctx context.Context) (Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Config.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.Config.URL, nil)
	if err != nil {
		return Reading{}, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "sluice-actuator")
	for name, value := range h.Config.Headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Reading{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d, want 200", response.StatusCode)
	}
	var reading Reading
	if err == nil {
		reading, err = h.Config.Read.read(text)
	}
	if err != nil {
		return Reading{}, fmt.Errorf("GET %s: %w", h.Config.URL, err)
	}
	return reading, nil
}
