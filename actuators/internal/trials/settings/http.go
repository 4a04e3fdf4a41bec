package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-openapi/jsonpointer"

	"sluice.dev/actuators/internal/web"
)

// HTTP is the `http` block of a parameter, which is read as JSON and written with one request.
type HTTP struct {
	web.Config `yaml:",squash"`
	Read       HTTPRead  `yaml:"read"`
	Write      HTTPWrite `yaml:"write"`
}

// HTTPRead describes how the value in force is read.
type HTTPRead struct {
	URL string `yaml:"url"`
	// Pointer is the JSON pointer (RFC 6901) of a text, number or truth value in the response.
	Pointer string `yaml:"pointer"`
	Status  int    `yaml:"status"`
}

// HTTPWrite describes how a value is set. URL and Body are Go templates: {{.Value}} is the value as it is, {{.JSON}} a
// JSON value (a number or truth value where it is one, else a string), {{.Query}} the value for a URL's query.
type HTTPWrite struct {
	Method string `yaml:"method"`
	URL    string `yaml:"url"`
	Body   string `yaml:"body"`
	Status int    `yaml:"status"`
}

// DefaultHTTP has the default values of a block.
func DefaultHTTP() HTTP {
	return HTTP{
		Config: web.Default(),
		Read:   HTTPRead{Pointer: "/value", Status: http.StatusOK},
		Write:  HTTPWrite{Method: http.MethodPut, Body: `{"value": {{.JSON}}}`, Status: http.StatusOK},
	}
}

// Variables implements Config.
func (c *HTTP) Variables(fill func(text *string, key string)) {
	c.Config.Variables(fill)
	fill(&c.Read.URL, "read.url")
	fill(&c.Write.URL, "write.url")
}

// Validate implements Config.
func (c *HTTP) Validate() error {
	faults := []error{c.Config.Validate()}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := web.CheckURL(c.Read.URL); err != nil {
		fault("read.url: %w", err)
	}
	if _, err := jsonpointer.New(c.Read.Pointer); err != nil {
		fault("read.pointer: %q: want a JSON pointer (RFC 6901) such as /value, or nothing for the whole response", c.Read.Pointer)
	}
	written, err := fillIn("write.url", c.Write.URL, "1")
	if err == nil {
		if err = web.CheckURL(written); err != nil {
			err = fmt.Errorf("write.url: %w", err)
		}
	}
	_, bodyErr := fillIn("write.body", c.Write.Body, "1")
	faults = append(faults, err, bodyErr)
	if text := c.Write.URL + c.Write.Body; !strings.Contains(text, ".Value") && !strings.Contains(text, ".JSON") && !strings.Contains(text, ".Query") {
		fault("write.body: %q: want {{.Value}} or {{.JSON}} in it, or in write.url", c.Write.Body)
	}
	return errors.Join(append(faults, web.CheckExchange(c.Write.Method, c.Read.Status, c.Write.Status)...)...)
}

// Setting implements Config.
func (c *HTTP) Setting() (Setting, error) {
	client, err := web.NewClient(c.Config, c.Read.URL, c.Write.URL)
	return &exchange{*c, client}, err
}

type exchange struct {
	config HTTP
	client *web.Client
}

// Read implements Setting.
func (s *exchange) Read(ctx context.Context) (string, error) {
	read := s.config.Read
	answer, err := s.client.Do(ctx, web.Request{Method: http.MethodGet, URL: read.URL}, read.Status)
	if err != nil {
		return "", s.client.Hide(fmt.Errorf("read: %w", err))
	}
	value, err := web.At(answer, read.Pointer)
	if err != nil {
		return "", s.client.Hide(fmt.Errorf("read: GET %s: %w", read.URL, err))
	}
	return scalar(value)
}

// Write implements Setting.
func (s *exchange) Write(ctx context.Context, value string) error {
	write := s.config.Write
	address, err := fillIn("write.url", write.URL, value)
	if err != nil {
		return err
	}
	body, err := fillIn("write.body", write.Body, value)
	if err != nil {
		return err
	}
	if _, err = s.client.Do(ctx, web.Request{Method: write.Method, URL: address, Body: body}, write.Status); err != nil {
		return s.client.Hide(fmt.Errorf("write %s: %w", value, err))
	}
	return nil
}

// scalar returns the text of a JSON value that is a text, number or truth value.
func scalar(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return value, nil
	case bool, json.Number:
		return fmt.Sprint(value), nil
	}
	return "", fmt.Errorf("read: %.100v: want a text, number or truth value", value)
}

// typed returns a text as a JSON value.
func typed(value string) json.RawMessage {
	var number json.Number
	switch {
	case value == "true", value == "false":
		return json.RawMessage(value)
	case json.Unmarshal([]byte(value), &number) == nil && number.String() == value:
		return json.RawMessage(value)
	}
	text, _ := json.Marshal(value) // a string always has a JSON form
	return text
}

func fillIn(key, text, value string) (string, error) {
	values := struct{ Value, JSON, Query string }{value, string(typed(value)), url.QueryEscape(value)}
	return web.Fill(key, text, values, "{{.Value}}, {{.JSON}} or {{.Query}}")
}
