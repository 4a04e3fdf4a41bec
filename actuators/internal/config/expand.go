package config

import (
	"fmt"
	"regexp"
)

var variable = regexp.MustCompile(`\$\{([^}:]*)(:-([^}]*))?\}`)
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} and ${NAME:-default} in text. As in a shell, the default stands in for a variable
// that is unset or empty; without one such a variable is an error.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var fault error
	expanded := variable.ReplaceAllStringFunc(text, func(whole string) string {
		parts := variable.FindStringSubmatch(whole)
		name, hasDefault, fallback := parts[1], parts[2] != "", parts[3]
		if !variableName.MatchString(name) {
			fault = fmt.Errorf("%q: want ${NAME} or ${NAME:-default}", whole)
			return whole
		}
		if value, ok := lookup(name); ok && value != "" {
			return value
		}
		if !hasDefault {
			fault = fmt.Errorf("%q: the environment has no %s: set it, or write ${%s:-default}", whole, name, name)
		}
		return fallback
	})
	return expanded, fault
}
