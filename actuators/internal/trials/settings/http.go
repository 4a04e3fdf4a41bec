package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"sluice.dev/actuators/internal/web"
)

// HTTP is the `http` block of a parameter, which is read as JSON and written with one request.
type HTTP struct {
	web.Config `yaml:",squash"`
	// Read is of a text, number or truth value.
	Read  web.JSONRead  `yaml:"read"`
	Write web.JSONWrite `yaml:"write"`
}

// fields are what the templates of a write may use: the value as it is, as a JSON value (a number or truth value where it is
// one, else a string), and for a URL's query.
type fields struct{ Value, JSON, Query string }

func fieldsOf(value string) fields {
	return fields{value, string(typed(value)), url.QueryEscape(value)}
}

var valueTemplate = web.Template{
	Fields: []string{".Value", ".JSON", ".Query"}, Legal: "{{.Value}}, {{.JSON}} or {{.Query}}", Wanted: "{{.Value}} or {{.JSON}}",
}

// DefaultHTTP has the default values of a block.
func DefaultHTTP() HTTP {
	return HTTP{
		Config: web.Default(),
		Read:   web.JSONRead{Pointer: "/value", Status: http.StatusOK},
		Write:  web.JSONWrite{Method: http.MethodPut, Body: `{"value": {{.JSON}}}`, Status: http.StatusOK},
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
	return errors.Join(c.Config.Validate(), valueTemplate.Validate(c.Read, c.Write, "/value", fieldsOf("1")))
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
	if _, err := valueTemplate.Send(ctx, s.client, s.config.Write, fieldsOf(value)); err != nil {
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
