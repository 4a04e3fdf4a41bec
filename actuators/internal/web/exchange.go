package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"text/template"

	"github.com/go-openapi/jsonpointer"
)

// JSONRead describes how a value in force is read.
type JSONRead struct {
	URL string `yaml:"url"`
	// Pointer is the JSON pointer (RFC 6901) of the value in the response.
	Pointer string `yaml:"pointer"`
	// Status is the HTTP status that means success.
	Status int `yaml:"status"`
}

// JSONWrite describes how a value is written. URL and Body are Go templates.
type JSONWrite struct {
	Method string `yaml:"method"`
	URL    string `yaml:"url"`
	Body   string `yaml:"body"`
	// Status is the HTTP status that means that the target took the value.
	Status int `yaml:"status"`
}

// Template is what the templates of a JSONWrite may use.
type Template struct {
	// Fields are the names, such as .Size; a write uses one of them at least. Legal and Wanted name them in errors.
	Fields        []string
	Legal, Wanted string
}

// Send fills in the templates of a write and sends it. values has the fields.
func (t Template) Send(ctx context.Context, client *Client, write JSONWrite, values any) ([]byte, error) {
	address, err := t.fill("write.url", write.URL, values)
	if err != nil {
		return nil, err
	}
	body, err := t.fill("write.body", write.Body, values)
	if err != nil {
		return nil, err
	}
	return client.Do(ctx, Request{Method: write.Method, URL: address, Body: body}, write.Status)
}

// Validate returns every fault of a reading and a write, each with its key. example is a pointer, and sample a value of each
// field.
func (t Template) Validate(read JSONRead, write JSONWrite, example string, sample any) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := CheckURL(read.URL); err != nil {
		fault("read.url: %w", err)
	}
	if _, err := jsonpointer.New(read.Pointer); err != nil {
		fault("read.pointer: %q: want a JSON pointer (RFC 6901) such as %s, or nothing for the whole response", read.Pointer, example)
	}
	switch write.Method {
	case http.MethodPut, http.MethodPost, http.MethodPatch:
	default:
		fault("write.method: %q: want PUT, POST or PATCH", write.Method)
	}
	if address, err := t.fill("write.url", write.URL, sample); err != nil {
		faults = append(faults, err)
	} else if err := CheckURL(address); err != nil {
		fault("write.url: %w", err)
	}
	if _, err := t.fill("write.body", write.Body, sample); err != nil {
		faults = append(faults, err)
	}
	used := false
	for _, field := range t.Fields {
		used = used || strings.Contains(write.URL+write.Body, field)
	}
	if !used {
		fault("write.body: %q: want %s in it, or in write.url", write.Body, t.Wanted)
	}
	for key, status := range map[string]int{"read.status": read.Status, "write.status": write.Status} {
		if status < 200 || status > 299 {
			fault("%s: %d: want 200 to 299", key, status)
		}
	}
	return errors.Join(faults...)
}

func (t Template) fill(key, text string, values any) (string, error) {
	var out strings.Builder
	parsed, err := template.New(key).Parse(text)
	if err == nil {
		err = parsed.Execute(&out, values)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %q: want a Go template that uses %s only: %w", key, text, t.Legal, err)
	}
	return out.String(), nil
}
