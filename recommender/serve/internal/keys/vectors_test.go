package keys

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"
)

// kinds parse a key and write it again.
var kinds = map[string]func(key string) (names []string, again string, err error){
	"pool": func(key string) ([]string, string, error) {
		p, err := ParsePool(key)
		return []string{p.Service, SideName(p.Side), p.Peer}, p.Record(), err
	},
	"candidate": func(key string) ([]string, string, error) {
		p, err := ParseCandidate(key)
		return []string{p.Service, SideName(p.Side), p.Peer}, p.Candidate(), err
	},
	"subset": func(key string) ([]string, string, error) {
		s, err := ParseSubset(key)
		return []string{s.Upstream, s.Instance, s.Downstream}, s.Record(), err
	},
	"containers": func(key string) ([]string, string, error) {
		service, err := ParseCalledService(key)
		return []string{string(service)}, service.Record(), err
	},
	"pair": func(key string) ([]string, string, error) {
		p, err := ParsePair(key)
		return []string{p.Upstream, p.Downstream}, p.Record(), err
	},
	"session": func(key string) ([]string, string, error) {
		t, err := ParseTuning(key)
		if err == nil && t.Trial != Head {
			err = errors.New("a trial")
		}
		return []string{t.Session}, t.Record(), err
	},
	"trial": func(key string) ([]string, string, error) {
		t, err := ParseTuning(key)
		if err == nil && t.Trial == Head {
			err = errors.New("a session")
		}
		return []string{t.Session, strconv.FormatInt(t.Trial, 10)}, t.Record(), err
	},
	"application": func(key string) ([]string, string, error) {
		name, err := ParseApplication(key)
		return []string{name}, Application(name), err
	},
}

// The deciders, in Python, pass the same vectors.
func TestKeysAreThoseOfTheContract(t *testing.T) {
	var vectors struct {
		Legal, Illegal []struct {
			Kind, Key string
			Names     []string
		}
	}
	text, err := os.ReadFile("../../../../tests/contract/log_keys.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Legal) == 0 || len(vectors.Illegal) == 0 {
		t.Fatal(err, vectors)
	}
	for _, vector := range vectors.Legal {
		names, again, err := kinds[vector.Kind](vector.Key)
		if err != nil || again != vector.Key || !slices.Equal(names, vector.Names) {
			t.Errorf("%s: %q %q %v", vector.Key, names, again, err)
		}
	}
	for _, vector := range vectors.Illegal {
		if names, _, err := kinds[vector.Kind](vector.Key); err == nil {
			t.Errorf("%s was read as %q", vector.Key, names)
		}
	}
}
