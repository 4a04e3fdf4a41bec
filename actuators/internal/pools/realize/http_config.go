package realize

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-openapi/jsonpointer"

	"sluice.dev/actuators/internal/web"
)

// HTTPConfig is the `http` block of a target: any pool that can be read as JSON and written with one request.
type HTTPConfig struct {
	web.Config `yaml:",squash"`
	Read       HTTPRead  `yaml:"read"`
	Write      HTTPWrite `yaml:"write"`
}

// HTTPRead describes how the size in force is read.
type HTTPRead struct {
	URL string `yaml:"url"`
	// Pointer is the JSON pointer (RFC 6901) of the size in the response.
	Pointer string `yaml:"pointer"`
	// InForce is the pointer of the current number of threads or connections, where that may be more than the size at
	// Pointer; without it, the size at Pointer counts alone.
	InForce string `yaml:"in_force"`
	// Busy and Waiting are the pointers of the threads or connections in use, and of the callers that wait for one. Where
	// there is no value, or no whole number from 0, the figure is absent.
	Busy    string `yaml:"busy"`
	Waiting string `yaml:"waiting"`
	// Status is the HTTP status that means success.
	Status int `yaml:"status"`
	// Unbounded is the number, 0 or less, that means no limit. Without it such a number is an error.
	Unbounded *int64 `yaml:"unbounded"`
}

// HTTPWrite describes how a size is set. URL and Body are Go templates; {{.Size}} is the size.
type HTTPWrite struct {
	Method string `yaml:"method"`
	URL    string `yaml:"url"`
	Body   string `yaml:"body"`
	// Status is the HTTP status that means that the target took the size.
	Status int `yaml:"status"`
	// Pointer leads to a value in the JSON response that has to be Equals, for a target whose status does not suffice;
	// without it, the status alone counts.
	Pointer string `yaml:"pointer"`
	Equals  string `yaml:"equals"`
}

// DefaultHTTP has the default values of a target.
func DefaultHTTP() HTTPConfig {
	return HTTPConfig{
		Config: web.Default(),
		Read:   HTTPRead{Pointer: "/size", Busy: "/busy", Waiting: "/waiting", Status: http.StatusOK},
		Write:  HTTPWrite{Method: http.MethodPut, Body: `{"size": {{.Size}}}`, Status: http.StatusOK},
	}
}

// Variables implements Config.
func (c *HTTPConfig) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.Read.URL, "read.url")
	fill(&c.Write.URL, "write.url")
}

// Open implements Config.
func (c *HTTPConfig) Open() (Realizer, error) { return NewHTTP(*c) }

// Validate returns every fault, each with its key relative to this block and the legal values.
func (c *HTTPConfig) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if err := c.Config.Validate(); err != nil {
		faults = append(faults, err)
	}
	if err := web.CheckURL(c.Read.URL); err != nil {
		fault("read.url: %w", err)
	}
	if _, err := jsonpointer.New(c.Read.Pointer); err != nil {
		fault("read.pointer: %q: want a JSON pointer (RFC 6901) such as /size, or nothing for the whole response", c.Read.Pointer)
	}
	for key, pointer := range map[string]string{
		"read.in_force": c.Read.InForce, "read.busy": c.Read.Busy, "read.waiting": c.Read.Waiting, "write.pointer": c.Write.Pointer,
	} {
		if _, err := jsonpointer.New(pointer); err != nil {
			fault("%s: %q: want a JSON pointer (RFC 6901) such as /status, or nothing", key, pointer)
		}
	}
	if none := c.Read.Unbounded; none != nil && *none > 0 {
		fault("read.unbounded: %d: want the number that means no limit, 0 or less", *none)
	}
	if written, err := render("write.url", c.Write.URL, 1); err != nil {
		faults = append(faults, err)
	} else if err := web.CheckURL(written); err != nil {
		fault("write.url: %w", err)
	}
	if _, err := render("write.body", c.Write.Body, 1); err != nil {
		faults = append(faults, err)
	}
	if !strings.Contains(c.Write.URL+c.Write.Body, ".Size") {
		fault("write.body: %q: want {{.Size}} in it, or in write.url", c.Write.Body)
	}
	return errors.Join(append(faults, web.CheckExchange(c.Write.Method, c.Read.Status, c.Write.Status)...)...)
}

// render fills in a template of the configuration; key names it in errors.
func render(key, text string, size uint32) (string, error) {
	return web.Fill(key, text, struct{ Size uint32 }{size}, "{{.Size}}")
}
