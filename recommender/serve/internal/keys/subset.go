package keys

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Subset is the key of an upstream container and one service that it calls.
type Subset struct {
	Upstream, Instance, Downstream string
}

// SubsetOf returns the key of k; the zero Subset for nil.
func SubsetOf(k *subsetsv1.SubsetKey) Subset {
	return Subset{k.GetUpstream(), k.GetInstance(), k.GetDownstream()}
}

// Proto returns s as the API's message.
func (s Subset) Proto() *subsetsv1.SubsetKey {
	return &subsetsv1.SubsetKey{Upstream: s.Upstream, Instance: s.Instance, Downstream: s.Downstream}
}

// Compare orders by upstream, downstream and instance, as lists are.
func (s Subset) Compare(t Subset) int {
	return cmp.Or(cmp.Compare(s.Upstream, t.Upstream), cmp.Compare(s.Downstream, t.Downstream), cmp.Compare(s.Instance, t.Instance))
}

// String is for people: "catalogue/catalogue-1 to search".
func (s Subset) String() string { return s.Upstream + "/" + s.Instance + " to " + s.Downstream }

// Group is the upstream service.
func (s Subset) Group() string { return s.Upstream }

// Record is the key of a subset's record: subset/UPSTREAM/INSTANCE/DOWNSTREAM.
func (s Subset) Record() string { return recordKey("subset", s.Upstream, s.Instance, s.Downstream) }

// ParseSubset is the inverse of Record.
func ParseSubset(record string) (Subset, error) {
	names, err := parseRecord(record, "subset", 3)
	if err != nil {
		return Subset{}, err
	}
	return Subset{names[0], names[1], names[2]}, nil
}

// CalledService is a called service.
type CalledService string

// Compare orders by name.
func (c CalledService) Compare(d CalledService) int { return cmp.Compare(c, d) }

// Group is the service.
func (c CalledService) Group() string { return string(c) }

// Record is the key of the record of a service's containers: containers/SERVICE.
func (c CalledService) Record() string { return recordKey("containers", string(c)) }

// ParseCalledService is the inverse of Record.
func ParseCalledService(record string) (CalledService, error) {
	names, err := parseRecord(record, "containers", 1)
	if err != nil {
		return "", err
	}
	return CalledService(names[0]), nil
}

// Pair is two services, of which one calls the other.
type Pair struct{ Upstream, Downstream string }

// String is for people: "catalogue to search".
func (p Pair) String() string { return p.Upstream + " to " + p.Downstream }

// Record is the key of a pair's explanation: pair/UPSTREAM/DOWNSTREAM.
func (p Pair) Record() string { return recordKey("pair", p.Upstream, p.Downstream) }

// ParsePair is the inverse of Record.
func ParsePair(record string) (Pair, error) {
	names, err := parseRecord(record, "pair", 2)
	if err != nil {
		return Pair{}, err
	}
	return Pair{names[0], names[1]}, nil
}

// Application is the key of the newest run that solved an application: application/NAME.
func Application(name string) string { return recordKey("application", name) }

// ParseApplication is the inverse of Application.
func ParseApplication(record string) (name string, err error) {
	names, err := parseRecord(record, "application", 1)
	if err != nil {
		return "", err
	}
	return names[0], nil
}

func recordKey(prefix string, names ...string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(escape(name))
	}
	return b.String()
}

// parseRecord is the inverse of recordKey; n names, none of them empty.
func parseRecord(record, prefix string, n int) ([]string, error) {
	parts := strings.Split(record, "/")
	if parts[0] != prefix || len(parts) != n+1 {
		return nil, fmt.Errorf("%q: want %s/ and %d names", record, prefix, n)
	}
	names := make([]string, n)
	for i, part := range parts[1:] {
		name, err := url.PathUnescape(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", record, err)
		}
		if name == "" {
			return nil, fmt.Errorf("%q: a name is empty", record)
		}
		names[i] = name
	}
	return names, nil
}
