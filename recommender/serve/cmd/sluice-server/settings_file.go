package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// fileVariable names the settings file. It is legal in the environment only.
const fileVariable = "SLUICE_SETTINGS"

// names are the variables that --help names.
var names = regexp.MustCompile(`SLUICE_[A-Z_]*[A-Z]`).FindAllString(usage, -1)

// exporterPrefix begins the names that OpenTelemetry's exporter reads from the environment.
const exporterPrefix = "OTEL_"

// withFile returns a lookup that also has the values of the file that SLUICE_SETTINGS names, and sets the exporter's among them in
// the environment. A variable of the environment that is not empty wins.
func withFile(lookup func(string) string) (func(string) string, error) {
	path := lookup(fileVariable)
	if path == "" {
		return lookup, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fileVariable, err)
	}
	values, err := parseSettings(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", fileVariable, path, err)
	}
	for name, value := range values {
		if strings.HasPrefix(name, exporterPrefix) && lookup(name) == "" {
			if err := os.Setenv(name, value); err != nil {
				return nil, fmt.Errorf("%s=%s: %s: %w", fileVariable, path, name, err)
			}
		}
	}
	return func(name string) string {
		if value := lookup(name); value != "" {
			return value
		}
		return values[name]
	}, nil
}

// parseSettings reads lines NAME=VALUE. Empty lines, and lines that begin with #, have no meaning. A value is the rest of its line,
// without blanks around it; quotes are part of it.
func parseSettings(text string) (map[string]string, error) {
	values := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		_, repeated := values[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d: want NAME=VALUE", i+1) // the line may be a secret
		case name == fileVariable || !slices.Contains(names, name) && !strings.HasPrefix(name, exporterPrefix):
			return nil, fmt.Errorf("line %d: %q is not legal; legal: OTEL_ names, and the SLUICE_ names of --help but %s", i+1, name, fileVariable)
		case repeated:
			return nil, fmt.Errorf("line %d: %s is in an earlier line too", i+1, name)
		}
		values[name] = strings.TrimSpace(value)
	}
	return values, nil
}
