package scaling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-openapi/jsonpointer"
)

// maxBytes bounds a document; what is longer is an error.
const maxBytes = 1 << 20

// Pointers lead to what a JSON document says (RFC 6901); an empty one: it does not say that.
type Pointers struct {
	// CPULimitCores leads to 1.5, "1.5" or "1500m".
	CPULimitCores string `yaml:"cpu_limit_cores"`
	Replicas      string `yaml:"replicas"`
	Version       string `yaml:"version"`
	// Since leads to when the above came to be: RFC 3339, or seconds since 1970.
	Since string `yaml:"since"`
}

// Validate returns every fault, each with its key and what is legal.
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

// read finds what the pointers lead to; that nothing is there is an error, so that a typo is seen.
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

// find puts what pointer leads to into `to`; an empty pointer leaves it alone.
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
