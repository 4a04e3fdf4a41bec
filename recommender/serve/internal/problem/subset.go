package problem

import (
	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Subset returns the key of a subset in a request; the error names the field below field.
func Subset(key *subsetsv1.SubsetKey, field string) (keys.Subset, error) {
	if err := checkNames(field,
		nameField{"upstream", key.GetUpstream(), "the calling service"},
		nameField{"instance", key.GetInstance(), "a container of the upstream service"},
		nameField{"downstream", key.GetDownstream(), "the called service"},
	); err != nil {
		return keys.Subset{}, err
	}
	return keys.SubsetOf(key), nil
}

// Pair returns the pair in a request; the error names the field below field.
func Pair(pair *subsetsv1.Pair, field string) (keys.Pair, error) {
	if err := checkNames(field,
		nameField{"upstream", pair.GetUpstream(), "the calling service"},
		nameField{"downstream", pair.GetDownstream(), "the called service"},
	); err != nil {
		return keys.Pair{}, err
	}
	return keys.Pair{Upstream: pair.GetUpstream(), Downstream: pair.GetDownstream()}, nil
}

type nameField struct{ name, value, legal string }

func checkNames(field string, fields ...nameField) error {
	for _, part := range fields {
		switch {
		case part.value == "":
			return Empty(field+"."+part.name, part.legal)
		case len(part.value) > MostName:
			return NotLegal(field+"."+part.name, part.value, "at most 512 bytes")
		}
	}
	return nil
}
