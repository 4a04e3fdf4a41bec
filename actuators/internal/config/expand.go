package config

import (
	"fmt"
	"regexp"

	"sluice.dev/actuators/internal/block"
)

var variable = regexp.MustCompile(`\$\{([^}:]*)(:-([^}]*))?\}`)
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} and ${NAME:-default} in text. As in a shell, the default replaces a variable that is unset or
// empty. Without a default, such a variable is an error.
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

// filler expands one text after another and collects the errors.
type filler struct {
	lookup func(string) (string, bool)
	// root is the prefix of each key.
	root   string
	faults []error
}

func (f *filler) fill(text *string, key string) {
	expanded, err := expand(*text, f.lookup)
	if err != nil {
		f.keep(fmt.Errorf("%s%s: %w", f.root, key, err))
		return
	}
	*text = expanded
}

// block expands all texts of the block at the key.
func (f *filler) block(key string, content block.Block) {
	content.Variables(func(text *string, inner string) { f.fill(text, key+"."+inner) })
}

func (f *filler) keep(err error) {
	if err != nil {
		f.faults = append(f.faults, err)
	}
}
