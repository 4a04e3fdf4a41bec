package realize

import (
	"errors"
	"fmt"
	"net/http"

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
	web.JSONRead `yaml:",squash"`
	// InForce is the pointer of the current number of threads or connections, where that may be more than the size at
	// Pointer; without it, the size at Pointer counts alone.
	InForce string `yaml:"in_force"`
	// Busy and Waiting are the pointers of the threads or connections in use, and of the callers that wait for one. Where
	// there is no value, or no whole number from 0, the figure is absent.
	Busy    string `yaml:"busy"`
	Waiting string `yaml:"waiting"`
	// Unbounded is the number, 0 or less, that means no limit. Without it such a number is an error.
	Unbounded *int64 `yaml:"unbounded"`
}

// HTTPWrite describes how a size is set. URL and Body are Go templates; {{.Size}} is the size.
type HTTPWrite struct {
	web.JSONWrite `yaml:",squash"`
	// Pointer leads to a value in the JSON response that has to be Equals, for a target whose status does not suffice;
	// without it, the status alone counts.
	Pointer string `yaml:"pointer"`
	Equals  string `yaml:"equals"`
}

// DefaultHTTP has the default values of a target.
func DefaultHTTP() HTTPConfig {
	return HTTPConfig{
		Config: web.Default(),
		Read:   HTTPRead{JSONRead: web.JSONRead{Pointer: "/size", Status: http.StatusOK}, Busy: "/busy", Waiting: "/waiting"},
		Write:  HTTPWrite{JSONWrite: web.JSONWrite{Method: http.MethodPut, Body: `{"size": {{.Size}}}`, Status: http.StatusOK}},
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

// sizeTemplate is what the templates of a write of a size may use.
var sizeTemplate = web.Template{Fields: []string{".Size"}, Legal: "{{.Size}}", Wanted: "{{.Size}}"}

// sizeField is the value of the templates' field.
type sizeField struct{ Size uint32 }

// Validate returns every fault, each with its key relative to this block and the legal values.
func (c *HTTPConfig) Validate() error {
	faults := []error{c.Config.Validate(), sizeTemplate.Validate(c.Read.JSONRead, c.Write.JSONWrite, "/size", sizeField{1})}
	for key, pointer := range map[string]string{
		"read.in_force": c.Read.InForce, "read.busy": c.Read.Busy, "read.waiting": c.Read.Waiting, "write.pointer": c.Write.Pointer,
	} {
		if _, err := jsonpointer.New(pointer); err != nil {
			faults = append(faults, fmt.Errorf("%s: %q: want a JSON pointer (RFC 6901) such as /status, or nothing", key, pointer))
		}
	}
	if none := c.Read.Unbounded; none != nil && *none > 0 {
		faults = append(faults, fmt.Errorf("read.unbounded: %d: want the number that means no limit, 0 or less", *none))
	}
	return errors.Join(faults...)
}
