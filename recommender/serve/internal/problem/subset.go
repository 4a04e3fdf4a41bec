package problem

import (
	"sluice.dev/serve/internal/keys"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Subset returns the key of a subset in a request; the error names the field below field.
func Subset(key *subsetsv1.SubsetKey, field string) (keys.Subset, error) {
	if err := names(field,
		named{"upstream", key.GetUpstream(), "the calling service"},
		named{"instance", key.GetInstance(), "a container of the upstream service"},
		named{"downstream", key.GetDownstream(), "the called service"},
	); err != nil {
		return keys.Subset{}, err
	}
	return keys.OfSubset(key), nil
}

// Pair returns the pair in a request; the error names the field below field.
func Pair(pair *subsetsv1.Pair, field string) (keys.Pair, error) {
	if err := names(field,
		named{"upstream", pair.GetUpstream(), "the calling service"},
		named{"downstream", pair.GetDownstream(), "the called service"},
	); err != nil {
		return keys.Pair{}, err
	}
	return keys.Pair{Upstream: pair.GetUpstream(), Downstream: pair.GetDownstream()}, nil
}

type named struct{ name, value, legal string }

func names(field string, all ...named) error {
	for _, each := range all {
		switch {
		case each.value == "":
			return Empty(field+"."+each.name, each.legal)
		case len(each.value) > MostName:
			return NotLegal(field+"."+each.name, each.value, "at most 512 bytes")
		}
	}
	return nil
}
