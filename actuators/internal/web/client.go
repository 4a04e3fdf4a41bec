package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"

	"sluice.dev/actuators/internal/redact"
)

// maxAnswerBytes bounds a response; a longer one is an error.
const maxAnswerBytes = 1 << 20

// Client sends requests as its Config says. It is safe for several goroutines.
type Client struct {
	config Config
	urls   []string
	tls    *transports
}

// NewClient returns a Client; its errors do not show the credentials within urls either. Errors: the TLS files have no
// certificate or key.
func NewClient(config Config, urls ...string) (*Client, error) {
	tls := &transports{config: config}
	if _, err := tls.current(); err != nil {
		return nil, err
	}
	return &Client{config: config, urls: urls, tls: tls}, nil
}

// Request is one request; Body is JSON, or empty.
type Request struct{ Method, URL, Body string }

// Do returns the response's body where its status is `want`. Its errors show no credentials.
func (c *Client) Do(ctx context.Context, request Request, want int) ([]byte, error) {
	headers, err := c.headers()
	if err != nil {
		return nil, err
	}
	answer, err := c.do(ctx, request, headers, want)
	if err != nil {
		return nil, redact.Of(headers, append(c.urls, request.URL)...).Error(err)
	}
	return answer, nil
}

// Hide removes the present credentials of c from err.
func (c *Client) Hide(err error) error {
	headers, headersErr := c.headers()
	if headersErr != nil {
		headers = c.config.Headers
	}
	return redact.Of(headers, c.urls...).Error(err)
}

func (c *Client) do(ctx context.Context, request Request, headers map[string]string, want int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, request.Method, request.URL, strings.NewReader(request.Body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	mark(r.Header)
	if request.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	transport, err := c.tls.current()
	if err != nil {
		return nil, err
	}
	client := http.Client{
		Transport: transport,
		// A redirected PUT becomes a GET and would count as a success; and secrets are for the configured host only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: read the response: %w", request.Method, request.URL, err)
	case response.StatusCode != want:
		return nil, fmt.Errorf("%s %s: status %d, want %d: %s", request.Method, request.URL, response.StatusCode, want, Excerpt(answer))
	case len(answer) > maxAnswerBytes:
		return nil, fmt.Errorf("%s %s: the response is longer than %d bytes", request.Method, request.URL, maxAnswerBytes)
	}
	return answer, nil
}

// headers returns the configured headers, and Authorization from the present content of the files.
func (c *Client) headers() (map[string]string, error) {
	headers := maps.Clone(c.config.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	for _, one := range []struct {
		path, scheme string
		encode       func(string) string
	}{
		{c.config.TokenFile, "Bearer ", func(text string) string { return text }},
		{c.config.BasicFile, "Basic ", func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }},
	} {
		if one.path == "" {
			continue
		}
		text, err := os.ReadFile(one.path)
		if err != nil {
			return nil, fmt.Errorf("read credentials: %w", err)
		}
		headers["Authorization"] = one.scheme + one.encode(strings.TrimSpace(string(text)))
	}
	return headers, nil
}

// Decode reads one JSON document and keeps its numbers as text.
func Decode(answer []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("the response is not JSON: %s", Excerpt(answer))
	}
	return document, nil
}

// Excerpt shortens a response for an error message.
func Excerpt(answer []byte) string {
	const most = 200
	if len(answer) > most {
		return fmt.Sprintf("%q...", answer[:most])
	}
	return fmt.Sprintf("%q", bytes.TrimSpace(answer))
}
