// Package brokers reads how clients reach Kafka: a file of properties, by the names that librdkafka gives them.
package brokers

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The legal properties, in the order of errors. librdkafka has more of them; franz-go has no properties in text form.
const (
	protocol    = "security.protocol"
	mechanism   = "sasl.mechanism"
	username    = "sasl.username"
	password    = "sasl.password"
	authority   = "ssl.ca.location"
	certificate = "ssl.certificate.location"
	key         = "ssl.key.location"
	hostCheck   = "ssl.endpoint.identification.algorithm"
	rack        = "client.rack"
)

var legal = []string{protocol, mechanism, username, password, authority, certificate, key, hostCheck, rack}

type property struct {
	value string
	line  int
}

// file holds secrets: no error has a value, except paths.
type file struct {
	path       string
	properties map[string]property
}

// Load returns the options of every client, from a file with one NAME=VALUE a line. Errors name file, line and property.
func Load(path string) ([]kgo.Opt, error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	return f.options()
}

func read(path string) (file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, err // names the path
	}
	f := file{path, map[string]property{}}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		earlier, repeated := f.properties[name]
		switch {
		case !found || name == "":
			return file{}, fmt.Errorf("%s:%d is not legal; legal: NAME=VALUE, or a comment after #", path, i+1)
		case repeated:
			return file{}, fmt.Errorf("%s:%d: %s is also in line %d; legal: once", path, i+1, name, earlier.line)
		case name == "bootstrap.servers" || name == "metadata.broker.list":
			return file{}, fmt.Errorf("%s:%d: %s is not legal here; SLUICE_KAFKA names the brokers", path, i+1, name)
		case !slices.Contains(legal, name):
			return file{}, fmt.Errorf("%s:%d: %s is not legal; legal: %s", path, i+1, name, strings.Join(legal, ", "))
		}
		f.properties[name] = property{value, i + 1}
	}
	return f, nil
}

// value is "" for a property that is not there.
func (f file) value(name string) string { return f.properties[name].value }

// wrong is an error about a property that the file has.
func (f file) wrong(name, text string, args ...any) error {
	return fmt.Errorf("%s:%d: %s %w", f.path, f.properties[name].line, name, fmt.Errorf(text, args...))
}
