package discover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

type resolver struct {
	hosts   []string
	records []*net.SRV
	err     error
}

func (r resolver) LookupHost(context.Context, string) ([]string, error) { return r.hosts, r.err }
func (r resolver) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	return "", r.records, r.err
}

func TestDNS(t *testing.T) {
	r := resolver{
		hosts:   []string{"10.0.0.2", "10.0.0.1", "10.0.0.2", "fd00::1"},
		records: []*net.SRV{{Target: "cart-1.cart.", Port: 8778}, {Target: "cart-0.cart.", Port: 8779}},
	}
	for port, want := range map[int64]string{
		80: "[{10.0.0.1:80 10.0.0.1} {10.0.0.2:80 10.0.0.2} {[fd00::1]:80 fd00::1}]",
		0:  "[{cart-0.cart:8779 cart-0.cart} {cart-1.cart:8778 cart-1.cart}]",
	} {
		endpoints, err := DNS{DNSConfig{"cart", port}, r}.Find(t.Context())
		if got := listing(endpoints); got != want || err != nil {
			t.Errorf("port %d: %s, %v, want %s", port, got, err, want)
		}
	}
	if endpoints, err := (DNS{DNSConfig{"cart", 80}, resolver{err: errors.New("no such host")}}).Find(t.Context()); err == nil {
		t.Errorf("found %v without an answer", endpoints)
	}
}

// listing is address and instance of each.
func listing(endpoints []Endpoint) string {
	all := []string{}
	for _, endpoint := range endpoints {
		all = append(all, "{"+endpoint.Address+" "+endpoint.Instance+"}")
	}
	return fmt.Sprint(all)
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cart.yaml")
	for text, want := range map[string]string{
		"- {address: \"b:80\", instance: cart-b}\n- {address: \"a:80\"}": "[{a:80 a} {b:80 cart-b}]",
		`[{"address": "a:80"}]`: "[{a:80 a}]",
		// Two targets on one host are two instances; the one with a name keeps it.
		`[{"address": "a:81"}, {"address": "a:80"}, {"address": "a:82", "instance": "c"}, {"address": "b:80"}]`: "[{a:80 a:80} {a:81 a:81} {a:82 c} {b:80 b}]",
		"":                               "[]",
		"- {address: a}":                 "error: [0].address",
		"- {adress: \"a:80\"}":           "error: adress",
		"{":                              "error: cart.yaml",
		strings.Repeat("# pad\n", 1<<20): "error: longer than",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		endpoints, err := File{FileConfig{path}}.Find(t.Context())
		if fault, ok := strings.CutPrefix(want, "error: "); ok {
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%.40q: %v, %v, want %s", text, endpoints, err, want)
			}
		} else if got := listing(endpoints); got != want || err != nil {
			t.Errorf("%.40q: %s, %v, want %s", text, got, err, want)
		}
	}
}

type script []func() ([]Endpoint, error)

func (s *script) Find(context.Context) ([]Endpoint, error) {
	next := (*s)[0]
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return next()
}

func TestFollowReportsChangesOnlyAndKeepsTheLastInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(addresses ...string) func() ([]Endpoint, error) {
			return func() (endpoints []Endpoint, err error) {
				for _, a := range addresses {
					endpoints = append(endpoints, Endpoint{Address: a})
				}
				return endpoints, nil
			}
		}
		fail := func() ([]Endpoint, error) { return nil, errors.New("no such host") }
		source := &script{fail, answer("a:1"), answer("a:1"), fail, fail, answer("a:1"), answer("a:1", "b:1"), answer()}
		var notified []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		Follow(ctx, source, 5*time.Second, func(endpoints []Endpoint) { notified = append(notified, fmt.Sprint(len(endpoints))) }, slog.New(slog.DiscardHandler))
		if got := strings.Join(notified, " "); got != "1 2 0" {
			t.Errorf("told of %s instances, want 1 2 0", got)
		}
	})
}

type prompt struct {
	script
	news chan struct{}
}

func (p *prompt) Changed() <-chan struct{} { return p.news }

func TestFollowAsksAtOnceWhatHasNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := func() ([]Endpoint, error) { return []Endpoint{{Address: "a:1"}}, nil }
		none := func() ([]Endpoint, error) { return nil, nil }
		source := &prompt{script{one, none}, make(chan struct{}, 1)}
		began := time.Now()
		var at []time.Duration
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		time.AfterFunc(3*time.Second, func() { source.news <- struct{}{} })
		Follow(ctx, source, time.Hour, func([]Endpoint) { at = append(at, time.Since(began)) }, slog.New(slog.DiscardHandler))
		if got := fmt.Sprint(at); got != "[0s 3s]" {
			t.Errorf("told at %s, want [0s 3s]", got)
		}
	})
}
