package config

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"

	"sluice.dev/actuators/internal/block"
	"sluice.dev/actuators/internal/kube"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/scaling"
)

// decode decodes the one YAML document in text into c. Unknown and repeated keys are errors. No value is converted to another
// type: 2.5 is not a whole number, 30 is not a duration.
func decode(text io.Reader, c *Config) error {
	document, err := oneDocument(text)
	if document == nil || err != nil {
		return err
	}
	c.Document, _ = document.(map[string]any)
	faults := lay(document, c, "")
	for i := range c.Targets {
		faults = append(faults, c.Targets[i].block(fmt.Sprintf("targets[%d]", i))...)
	}
	for i := range c.Subsets {
		faults = append(faults, c.Subsets[i].block(fmt.Sprintf("subsets[%d]", i))...)
	}
	return errors.Join(faults...)
}

// oneDocument returns the YAML document in text; nil where there is none.
func oneDocument(text io.Reader) (document any, err error) {
	decoder := yaml.NewDecoder(text)
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document: want one")
	}
	return document, nil
}

// lay decodes a part of the document, at the key root, into c, and returns one error for each key.
func lay(part, c any, root string) []error {
	m, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: c, TagName: "yaml", ErrorUnused: true, DecodeHook: strictly, RootName: root,
		MatchName: func(key, field string) bool { return key == field },
	})
	if err != nil {
		return []error{err}
	}
	return byKey(m.Decode(part))
}

// block finds the kind of the target at the key root, among the keys that Target does not have itself.
func (t *Target) block(root string) (faults []error) {
	t.Kind, t.Block, faults = oneBlock(root, t.Rest, realize.Kinds, "target")
	return faults
}

// oneBlock decodes the one block of rest whose key is a kind; the kind is "" where there is none, or where there are several.
func oneBlock[B block.Block](root string, rest map[string]any, kinds block.Kinds[B], of string) (kind string, content B, faults []error) {
	if kind, faults = oneKind(root, rest, kinds.Names(), of); kind == "" {
		return "", content, faults
	}
	content, _ = kinds.New(kind)
	return kind, content, append(faults, lay(rest[kind], content, root+"."+kind)...)
}

// oneKind returns the one key of rest that is a kind; "" where there is none, or where there are several.
func oneKind(root string, rest map[string]any, all []string, of string) (kind string, faults []error) {
	var kinds, unknown []string
	for key := range rest {
		if slices.Contains(all, key) {
			kinds = append(kinds, key)
		} else {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(kinds)
	slices.Sort(unknown)
	if len(unknown) > 0 {
		faults = append(faults, fmt.Errorf("%s: unknown keys: %s", root, strings.Join(unknown, ", ")))
	}
	switch len(kinds) {
	case 0:
		return "", faults
	case 1:
		return kinds[0], faults
	default:
		return "", append(faults, fmt.Errorf("%s: %s: %d kinds of %s: want one", root, strings.Join(kinds, ", "), len(kinds), of))
	}
}

// strictly runs before each value is decoded. It refuses a value of another type, reads durations, and sets each target's
// defaults.
func strictly(from, to reflect.Value) (any, error) {
	value := from.Interface()
	switch to.Interface().(type) {
	case time.Duration:
		if text, ok := value.(string); ok {
			if d, err := time.ParseDuration(text); err == nil {
				return d, nil
			}
		}
		return nil, fmt.Errorf("%v: want a duration with its unit, such as 500ms or 2s", value)
	case Target:
		to.Set(reflect.ValueOf(DefaultTarget()))
	case Subset:
		to.Set(reflect.ValueOf(DefaultSubset()))
	case Discover:
		to.Set(reflect.ValueOf(DefaultDiscover()))
	case Containers:
		to.Set(reflect.ValueOf(DefaultContainers()))
	case kube.Config:
		to.Set(reflect.ValueOf(kube.DefaultConfig()))
	case scaling.HTTPConfig:
		to.Set(reflect.ValueOf(scaling.DefaultHTTP()))
	}
	want := map[reflect.Kind]string{
		reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Float64: "a number", reflect.Bool: "true or false",
		reflect.String: "text", reflect.Struct: "a block of keys", reflect.Map: "a block of keys", reflect.Slice: "a list",
	}[to.Kind()]
	if fits := from.Kind() == to.Kind() || to.Kind() == reflect.Int64 && from.Kind() == reflect.Int ||
		to.Kind() == reflect.Float64 && from.Kind() == reflect.Int ||
		to.Kind() == reflect.Struct && from.Kind() == reflect.Map; want != "" && !fits {
		return nil, fmt.Errorf("%v: want %s", value, want)
	}
	return value, nil
}

// byKey splits err into one error for each key, in the order and with the key of the file.
func byKey(err error) []error {
	var here *mapstructure.DecodeError
	switch e := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var all []error
		for _, inner := range e.Unwrap() {
			all = append(all, byKey(inner)...)
		}
		return all
	case *mapstructure.DecodeError:
		here = e
	default:
		if inner := errors.Unwrap(err); inner != nil {
			return byKey(inner)
		}
		return []error{err}
	}
	cause := strings.Replace(here.Unwrap().Error(), "has invalid keys:", "unknown keys:", 1)
	if here.Name() == "" || here.Name() == "config.Config" || here.Name() == "config.Tune" { // the top of the file
		return []error{errors.New(cause)}
	}
	return []error{fmt.Errorf("%s: %s", here.Name(), cause)}
}
