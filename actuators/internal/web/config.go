// Package web sends requests to targets and scaling sources that respond with JSON over HTTP. Responses are bounded,
// redirects are not followed, and credentials come from files that are read again when they change.
package web

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
)

// Config has the keys of every block with a URL.
type Config struct {
	// Timeout bounds each request, connecting and reading included.
	Timeout time.Duration `yaml:"timeout"`
	// Headers go with every request. Values may name environment variables, because they may be secrets.
	Headers map[string]string `yaml:"headers"`
	// TokenFile holds a token, sent as Authorization: Bearer; read with every request.
	TokenFile string `yaml:"token_file"`
	// BasicFile holds USER:PASSWORD; read with every request.
	BasicFile string `yaml:"basic_file"`
	// CAFile (PEM) has the authority that signed the server's certificate; by default the host's authorities count.
	CAFile string `yaml:"ca_file"`
	// CertFile and KeyFile (PEM) are the client certificate and its key, together or not at all.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// Default has the default values of a block.
func Default() Config { return Config{Timeout: 2 * time.Second} }

// Variables calls fill for each text that may name environment variables, with its key.
func (c *Config) Variables(fill func(text *string, key string)) {
	for name, value := range c.Headers {
		fill(&value, "headers."+name)
		c.Headers[name] = value
	}
	for key, path := range c.files() {
		fill(path, key)
	}
}

func (c *Config) files() map[string]*string {
	return map[string]*string{
		"token_file": &c.TokenFile, "basic_file": &c.BasicFile,
		"ca_file": &c.CAFile, "cert_file": &c.CertFile, "key_file": &c.KeyFile,
	}
}

// Validate returns every fault, each with its key and the legal values. Files must exist.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Timeout < time.Millisecond || c.Timeout > time.Minute {
		fault("timeout: %s: want 1ms to 1m", c.Timeout)
	}
	for name := range c.Headers {
		if name == "" || strings.ContainsAny(name, " \t\r\n:") {
			fault("headers: %q: want a header name", name)
		}
	}
	for _, key := range []string{"token_file", "basic_file", "ca_file", "cert_file", "key_file"} {
		if path := *c.files()[key]; path != "" {
			if _, err := os.ReadFile(path); err != nil {
				fault("%s: %q: want a file that can be read: %w", key, path, err)
			}
		}
	}
	if c.TokenFile != "" && c.BasicFile != "" {
		fault("basic_file: %q: want it or token_file, not both", c.BasicFile)
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		fault("key_file: %q: want cert_file and key_file together, or neither", c.KeyFile)
	}
	return errors.Join(faults...)
}

// CheckURL wants an absolute http or https URL.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("%q: want http://HOST... or https://HOST...", text)
	}
	return nil
}
