// Package block is the block of one kind in the configuration, such as `tomcat` or `file`.
package block

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Block is what each kind's block has.
type Block interface {
	// Variables calls fill for each text that may name environment variables, with its key.
	Variables(fill func(text *string, key string))
	// Validate returns every fault, each with its key relative to the block and the legal values.
	Validate() error
}

// Kinds make a block with its defaults, by the key of the block.
type Kinds[B Block] map[string]func() B

// Names returns the keys of all kinds, in order.
func (k Kinds[B]) Names() []string { return slices.Sorted(maps.Keys(k)) }

// New returns a block of the kind with its defaults; false for an unknown kind.
func (k Kinds[B]) New(kind string) (fresh B, ok bool) {
	defaults, ok := k[kind]
	if !ok {
		return fresh, false
	}
	return defaults(), true
}

// Below prefixes each fault of err, a line each, with the key of its block; nil for nil.
func Below(key string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(key + "." + strings.ReplaceAll(err.Error(), "\n", "\n"+key+"."))
}
