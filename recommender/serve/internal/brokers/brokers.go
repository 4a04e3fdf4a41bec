// Package brokers reads how to reach Kafka: addresses, TLS, SASL and names of topics (collector/kafka.toml).
package brokers

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Settings are the values of a file.
type Settings struct {
	// Brokers are HOST:PORT each; empty if the file has none.
	Brokers []string
	// Options are for every client, without the brokers.
	Options []kgo.Opt

	prefix string
	names  map[string]string
}

// file is collector/kafka.toml. Other clients check the tables of their own.
type file struct {
	Brokers    []string          `toml:"brokers"`
	Prefix     string            `toml:"topic_prefix"`
	Names      map[string]string `toml:"topics"`
	TLS        *security         `toml:"tls"`
	SASL       *login            `toml:"sasl"`
	Franz      options           `toml:"franz"`
	Java       map[string]any    `toml:"java"`
	Librdkafka map[string]any    `toml:"librdkafka"`
	Collector  map[string]any    `toml:"collector"`
}

// options are the legal options of franz-go, by its own names; franz-go has no properties in text form.
type options struct {
	Rack                   string `toml:"rack"`
	DialTimeout            string `toml:"dial_timeout"`
	ConnIdleTimeout        string `toml:"conn_idle_timeout"`
	RequestTimeoutOverhead string `toml:"request_timeout_overhead"`
	MetadataMaxAge         string `toml:"metadata_max_age"`
	RetryTimeout           string `toml:"retry_timeout"`
}

// Load reads the file. lookup returns passwords from the environment.
func Load(path string, lookup func(string) string) (Settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Settings{}, fmt.Errorf("read %s: %w", path, err)
	}
	settings, err := parse(text, lookup)
	if err != nil {
		return Settings{}, fmt.Errorf("read %s: %w", path, err)
	}
	return settings, nil
}

func parse(text []byte, lookup func(string) string) (Settings, error) {
	var content file
	decoder := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := decoder.Decode(&content); err != nil {
		var unknown *toml.StrictMissingError
		if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
			return Settings{}, fmt.Errorf("%s is not known", strings.Join(unknown.Errors[0].Key(), "."))
		}
		return Settings{}, err
	}
	s := Settings{Brokers: content.Brokers, prefix: content.Prefix, names: content.Names}
	if content.TLS != nil {
		config, err := content.TLS.config()
		if err != nil {
			return Settings{}, err
		}
		s.Options = append(s.Options, kgo.DialTLSConfig(config))
	}
	if content.SASL != nil {
		mechanism, err := content.SASL.mechanism(lookup)
		if err != nil {
			return Settings{}, err
		}
		s.Options = append(s.Options, kgo.SASL(mechanism))
	}
	more, err := content.Franz.options()
	s.Options = append(s.Options, more...)
	return s, err
}

// Topic is the name on the brokers of the topic `name` of collector/topics.yaml. fallback is its name, with the prefix,
// if the settings do not name it.
func (s Settings) Topic(name, fallback string) string {
	if configured, ok := s.names[name]; ok {
		return configured
	}
	return s.prefix + fallback
}

func (o options) options() (opts []kgo.Opt, err error) {
	if o.Rack != "" {
		opts = append(opts, kgo.Rack(o.Rack))
	}
	times := map[string]struct {
		value  string
		option func(time.Duration) kgo.Opt
	}{
		"dial_timeout":             {o.DialTimeout, func(d time.Duration) kgo.Opt { return kgo.DialTimeout(d) }},
		"conn_idle_timeout":        {o.ConnIdleTimeout, func(d time.Duration) kgo.Opt { return kgo.ConnIdleTimeout(d) }},
		"request_timeout_overhead": {o.RequestTimeoutOverhead, func(d time.Duration) kgo.Opt { return kgo.RequestTimeoutOverhead(d) }},
		"metadata_max_age":         {o.MetadataMaxAge, func(d time.Duration) kgo.Opt { return kgo.MetadataMaxAge(d) }},
		"retry_timeout":            {o.RetryTimeout, func(d time.Duration) kgo.Opt { return kgo.RetryTimeout(d) }},
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if times[name].value == "" {
			continue
		}
		length, err := time.ParseDuration(times[name].value)
		if err != nil || length <= 0 {
			return nil, fmt.Errorf("franz.%s is %q; legal: a time, as 10s", name, times[name].value)
		}
		opts = append(opts, times[name].option(length))
	}
	return opts, nil
}
