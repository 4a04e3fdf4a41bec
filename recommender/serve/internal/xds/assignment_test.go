package xds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// containersOf is a service's containers in short form: "b-1", "b-2!" drained, "b-3?" without an address, "b-4=b-1" at another's
// address, "b-5~" not ready.
func containersOf(words string) *subsetsv1.ServiceContainers {
	message := &subsetsv1.ServiceContainers{Service: "b"}
	for _, word := range strings.Fields(words) {
		name, at, moved := strings.Cut(strings.TrimRight(word, "!?~"), "=")
		if !moved {
			at = name
		}
		c := &subsetsv1.Container{Instance: name, Address: "10.0.0." + strings.TrimPrefix(at, "b-") + ":80", Drained: strings.HasSuffix(word, "!")}
		c.NotReady = strings.HasSuffix(word, "~")
		if strings.HasSuffix(word, "?") {
			c.Address = "b.local:80"
		}
		message.Containers = append(message.Containers, c)
	}
	return message
}

func subsetOf(service *subsetsv1.ServiceContainers, words string) *subsetsv1.Subset {
	s := &subsetsv1.Subset{}
	for _, word := range strings.Fields(words) {
		e := &subsetsv1.Endpoint{Instance: word, Weight: 3}
		for _, c := range service.GetContainers() {
			if c.GetInstance() == word {
				e.Address = c.GetAddress()
			}
		}
		s.Endpoints = append(s.Endpoints, e)
	}
	return s
}

func TestAContainerIsWhereItWasFoundLast(t *testing.T) {
	subset := subsetOf(containersOf("b-1 b-2"), "b-1 b-2")
	moved := containersOf("b-1=b-7 b-2?")
	moved.Containers[0].Zone = "z2"
	moved.Containers[1].Address = ""
	var got []string
	for _, e := range assign(subset, moved, func(instance string, why fault) { t.Errorf("%s %s", instance, why) }) {
		got = append(got, fmt.Sprintf("%s %s:%d %s *%d", e.instance, e.host, e.port, e.zone, e.weight))
	}
	if want := "b-1 10.0.0.7:80 z2 *3, b-2 10.0.0.2:80  *3"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhomAClientIsGiven(t *testing.T) {
	for _, tt := range []struct{ containers, subset, want, faults string }{
		{"b-1 b-2 b-3", "b-1 b-3", "b-1*3 b-3*3", ""},
		{"b-1 b-2", "", "b-1*1 b-2*1", ""},
		{"b-1 b-2!", "b-1 b-2", "b-1*3", "b-2 drained"},
		{"b-1! b-2! b-3", "b-1 b-2", "b-3*1", "b-1 drained; b-2 drained"},
		{"b-1! b-2!", "b-1", "b-1*1 b-2*1", "b-1 drained"},
		{"b-1 b-2", "b-1 b-9", "b-1*3", "b-9 no container of the service"},
		{"b-1 b-2?", "b-2", "b-1*1", "b-2 no address of the form IP:PORT; b-2 no address of the form IP:PORT"},
		{"b-1 b-2=b-1", "b-1 b-2", "b-1*3", "b-2 the address of another"},
		{"b-1 b-2", "b-1 b-1", "b-1*3", "b-1 the address of another"},
		{"b-1 b-2~", "b-1 b-2", "b-1*3 b-2*3~", ""},
		{"b-1~ b-2 b-3~", "b-1", "b-1*1~ b-2*1 b-3*1~", ""},
		{"b-1~ b-2~ b-3~", "b-1 b-2", "b-1*3 b-2*3", ""},
		{"b-1~ b-2!", "", "b-1*1", ""},
		{"b-1?", "", "", "b-1 no address of the form IP:PORT; b-1 no address of the form IP:PORT"},
		{"", "", "", ""},
	} {
		service := containersOf(tt.containers)
		var faults, got []string
		for _, e := range assign(subsetOf(service, tt.subset), service, func(instance string, why fault) {
			faults = append(faults, instance+" "+string(why))
		}) {
			got = append(got, fmt.Sprintf("%s*%d%s", e.instance, e.weight, map[bool]string{true: "~"}[e.notReady]))
		}
		if strings.Join(got, " ") != tt.want || strings.Join(faults, "; ") != tt.faults {
			t.Errorf("%q of %q: %v %q, want %q %q", tt.subset, tt.containers, got, faults, tt.want, tt.faults)
		}
	}
}

// For any records of the journal, the endpoints are those that clients take: addresses and names differ, and a client can hold
// the sum of the weights. A service with an address always has an endpoint. However old the subset is, each endpoint is a
// container of the service, at the container's address; none is drained while another one is not, and not all are marked as
// not ready.
func TestWhatIsGivenOutIsTaken(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		var words []string
		for n := range random.IntN(6) {
			words = append(words, fmt.Sprintf("b-%d%s", n+1, []string{"", "", "!", "?", "=b-1", "~"}[random.IntN(6)]))
		}
		service := containersOf(strings.Join(words, " "))
		subset := &subsetsv1.Subset{}
		for range random.IntN(5) {
			e := proto.CloneOf(subsetOf(service, fmt.Sprintf("b-%d", 1+random.IntN(7))).GetEndpoints()[0])
			e.Weight = []uint32{0, 1, 7, math.MaxUint32}[random.IntN(4)]
			subset.Endpoints = append(subset.Endpoints, e)
		}
		endpoints := assign(subset, service, func(string, fault) {})
		if len(endpoints) > 0 && !slices.ContainsFunc(endpoints, func(e endpoint) bool { return !e.notReady }) {
			t.Fatalf("none of %v is ready, of %v in %v", endpoints, subset, service)
		}
		names, addresses, sum := map[string]bool{}, map[string]bool{}, uint64(0)
		for _, e := range endpoints {
			address := fmt.Sprint(e.host, e.port)
			if names[e.instance] || addresses[address] || e.weight < 1 {
				t.Fatalf("%v of %v in %v", endpoints, subset, service)
			}
			names[e.instance], addresses[address] = true, true
			sum += uint64(e.weight)
		}
		if sum > math.MaxUint32 {
			t.Fatalf("weights have the sum %d", sum)
		}
		reachable, drains := false, true
		live := map[string]*subsetsv1.Container{}
		for _, c := range service.GetContainers() {
			_, _, ok := address(c.GetAddress())
			reachable, drains = reachable || ok, drains && (c.GetDrained() || !ok)
			live[c.GetInstance()] = c
		}
		for _, e := range endpoints {
			switch c := live[e.instance]; {
			case len(live) > 0 && c == nil:
				t.Fatalf("%s is no container of %v", e.instance, service)
			case c != nil && c.GetAddress() != fmt.Sprintf("%s:%d", e.host, e.port):
				t.Fatalf("%s is at %s:%d, its container at %s", e.instance, e.host, e.port, c.GetAddress())
			case c.GetDrained() && !drains:
				t.Fatalf("%s is drained, and others of %v are not", e.instance, service)
			}
		}
		if reachable != (len(endpoints) > 0) {
			t.Fatalf("%v of %v in %v", endpoints, subset, service)
		}
	}
}
