package scaling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-openapi/jsonpointer"
)

// maxBytes bounds a document; a longer one is an error.
const maxBytes = 1 << 20

// Pointers are the JSON pointers (RFC 6901) of a document's values; empty for a value that the document does not have.
type Pointers struct {
	// CPULimitCores is the pointer of 1.5, "1.5" or "1500m".
	CPULimitCores string `yaml:"cpu_limit_cores"`
	Replicas      string `yaml:"replicas"`
	Version       string `yaml:"version"`
	// Since is the pointer of the time of the last change: RFC 3339, or seconds since 1970.
	Since string `yaml:"since"`
}

// Validate returns every fault, each with its key and the legal values.
func (p Pointers) Validate() error {
	var faults []error
	for _, one := range []struct{ key, text string }{
		{"cpu_limit_cores", p.CPULimitCores}, {"replicas", p.Replicas}, {"version", p.Version}, {"since", p.Since},
	} {
		if _, err := jsonpointer.New(one.text); err != nil {
			faults = append(faults, fmt.Errorf("%s: %q: want a JSON pointer (RFC 6901) such as /status/replicas", one.key, one.text))
		}
	}
	if p.CPULimitCores == "" && p.Replicas == "" && p.Version == "" {
		faults = append(faults, errors.New("cpu_limit_cores: absent, as are replicas and version: want at least one of them"))
	}
	return errors.Join(faults...)
}

// read returns the values at the pointers. A pointer to nothing is an error, so that a typo shows.
func (p Pointers) read(text []byte) (r Reading, err error) {
	if len(text) > maxBytes {
		return r, fmt.Errorf("the document is longer than %d bytes", maxBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return r, fmt.Errorf("the document is not JSON: %w", err)
	}
	var replicas uint32
	err = errors.Join(
		find(document, p.CPULimitCores, cores, &r.CPULimitCores),
		find(document, p.Replicas, count, &replicas),
		find(document, p.Version, label, &r.Version),
		find(document, p.Since, moment, &r.Since))
	if p.Replicas != "" {
		r.Replicas = &replicas
	}
	return r, err
}

// find parses the value at the pointer `at` into `to`; an empty pointer leaves `to` alone.
func find[T any](document any, at string, parse func(any) (T, error), to *T) error {
	if at == "" {
		return nil
	}
	pointer, err := jsonpointer.New(at)
	if err != nil {
		return err
	}
	value, _, err := pointer.Get(document)
	if err != nil {
		return fmt.Errorf("the document has nothing at %q", at)
	}
	if *to, err = parse(value); err != nil {
		return fmt.Errorf("at %q: %w", at, err)
	}
	return nil
}
