package kube

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"sluice.dev/actuators/internal/membership"
)

// podsOf are pods whose UID is "uid-" and the name; a name that ends with "-" is of a pod whose deletion began.
func podsOf(names ...string) map[string]*Pod {
	all := map[string]*Pod{}
	for _, name := range names {
		name, deleted := strings.CutSuffix(name, "-")
		pod := &Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}, Instance: name}
		if deleted {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		all[name] = pod
	}
	return all
}

// end is an endpoint of pod a at an address; conditions has r, s and t for ready, serving and terminating.
func end(pod, address, conditions string) Endpoint {
	has := func(condition string) bool { return strings.Contains(conditions, condition) }
	return Endpoint{Address: address, Ready: has("r"), Serving: has("s"), Terminating: has("t"), Pod: pod, PodUID: "uid-" + pod, Node: "n1", Zone: "z1"}
}

func sliceOf(family string, ports map[string]int64, ends ...Endpoint) *EndpointSlice {
	return &EndpointSlice{Family: family, Ports: ports, Endpoints: ends}
}

func text(list membership.List) string {
	var all []string
	for _, c := range list.Containers {
		one := c.Instance + "@" + c.Address
		if c.Drained {
			one += " drained"
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

func TestMerge(t *testing.T) {
	http := map[string]int64{"http": 8080}
	two := map[string]int64{"http": 8080, "admin": 9000}
	old := end("a", "10.0.0.9", "rs")
	old.PodUID = "uid-of-an-earlier-a"
	lonely := end("", "10.0.0.7", "rs")
	for name, c := range map[string]struct {
		slices []*EndpointSlice
		pods   map[string]*Pod
		config EndpointsConfig
		want   string
		fault  string
	}{
		"conditions": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "rs"), end("b", "10.0.0.2", ""), end("c", "10.0.0.3", "st"), end("d", "10.0.0.4", "t"))},
			podsOf("a", "b", "c", "d"), EndpointsConfig{}, "a@10.0.0.1:8080, c@10.0.0.3:8080 drained", ""},
		"not ready, and serving without an end": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "s"), end("b", "10.0.0.2", "r"))},
			podsOf("a", "b"), EndpointsConfig{}, "b@10.0.0.2:8080", ""},
		"publishNotReadyAddresses: ready also at its end": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "rst"))}, podsOf("a"), EndpointsConfig{}, "a@10.0.0.1:8080 drained", ""},
		"the pod's deletion is known before its slice has it": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "rs"))}, podsOf("a-"), EndpointsConfig{}, "a@10.0.0.1:8080 drained", ""},
		"a pod that is gone, and one of the same name": {
			[]*EndpointSlice{sliceOf(ipv4, http, old, end("a", "10.0.0.1", "rs"), end("b", "10.0.0.2", "rs"))}, podsOf("a"), EndpointsConfig{}, "a@10.0.0.1:8080", ""},
		"an endpoint in two slices": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "rs")), sliceOf(ipv4, http, end("a", "10.0.0.1", "st"))},
			podsOf("a"), EndpointsConfig{}, "a@10.0.0.1:8080 drained", ""},
		"both families": {
			[]*EndpointSlice{sliceOf(ipv6, http, end("a", "fd00::1", "rs")), sliceOf(ipv4, http, end("a", "10.0.0.1", "rs"))},
			podsOf("a"), EndpointsConfig{}, "a@10.0.0.1:8080", ""},
		"the other family": {
			[]*EndpointSlice{sliceOf(ipv6, http, end("a", "fd00::1", "rs")), sliceOf(ipv4, http, end("a", "10.0.0.1", "rs"))},
			podsOf("a"), EndpointsConfig{Family: ipv6}, "a@[fd00::1]:8080", ""},
		"IPv6 alone": {
			[]*EndpointSlice{sliceOf(ipv6, http, end("a", "fd00::1", "rs")), sliceOf(ipv4, http)}, podsOf("a"), EndpointsConfig{}, "a@[fd00::1]:8080", ""},
		"a port of two": {
			[]*EndpointSlice{sliceOf(ipv4, two, end("a", "10.0.0.1", "rs"))}, podsOf("a"), EndpointsConfig{Port: "admin"}, "a@10.0.0.1:9000", ""},
		"a named target port differs between pods": {
			[]*EndpointSlice{sliceOf(ipv4, http, end("a", "10.0.0.1", "rs")), sliceOf(ipv4, map[string]int64{"http": 8081}, end("b", "10.0.0.2", "rs"))},
			podsOf("a", "b"), EndpointsConfig{Port: "http"}, "a@10.0.0.1:8080, b@10.0.0.2:8081", ""},
		"no port of two": {
			[]*EndpointSlice{sliceOf(ipv4, two, end("a", "10.0.0.1", "rs"))}, podsOf("a"), EndpointsConfig{}, "a@",
			`kubernetes.port: "": the Service has the ports [admin, http]`},
		"no pod": {
			[]*EndpointSlice{sliceOf(ipv4, http, lonely, end("a", "10.0.0.1", "rs"))}, podsOf("a"), EndpointsConfig{}, "a@10.0.0.1:8080", "1 endpoints name no pod"},
		"nothing": {nil, podsOf("a"), EndpointsConfig{}, "", ""},
	} {
		got := merge(c.slices, c.pods, c.config)
		if text(got) != c.want {
			t.Errorf("%s: %s, want %s", name, text(got), c.want)
		}
		if faults := strings.Join(got.Faults, "; "); (faults == "") != (c.fault == "") || !strings.Contains(faults, c.fault) {
			t.Errorf("%s: faults %q, want %q", name, faults, c.fault)
		}
		for _, container := range got.Containers {
			if container.Host != "n1" || container.Zone != "z1" {
				t.Errorf("%s: %+v", name, container)
			}
		}
	}
}

func TestTheInstanceIsTheNameInSpans(t *testing.T) {
	pods := podsOf("a", "b", "c", "d")
	pods["a"].Instance = "shop.a.app"
	pods["b"].Annotations = map[string]string{instanceAnnotation: "cart@7"}
	pods["d"].Instance = "cart@7"
	one := sliceOf(ipv4, map[string]int64{"": 80}, end("a", "10.0.0.1", "rs"), end("b", "10.0.0.2", "rs"), end("c", "10.0.0.3", "rs"), end("d", "10.0.0.4", "rs"))
	got := merge([]*EndpointSlice{one}, pods, EndpointsConfig{})
	if want := "c@10.0.0.3:80, cart@7@10.0.0.2:80, shop.a.app@10.0.0.1:80"; text(got) != want {
		t.Errorf("%s, want %s", text(got), want)
	}
	if len(got.Faults) != 1 || !strings.Contains(got.Faults[0], `pods b and d have the instance "cart@7"`) {
		t.Errorf("faults %q", got.Faults)
	}
}

// However a Service's endpoints are spread over slices, in whatever order, and however many of them are twice: the list is that
// of one slice with all of them.
func TestSlicesAreMergedInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ports := map[string]int64{"http": 8080}
	for round := range 500 {
		n := 1 + random.IntN(40)
		var names []string
		var ends []Endpoint
		for i := range n {
			pod := fmt.Sprint("pod-", i)
			if random.IntN(10) > 0 { // else its pod is gone
				names = append(names, pod)
			}
			conditions := []string{"rs", "rs", "st", "t", "", "s"}[random.IntN(6)]
			ends = append(ends, end(pod, fmt.Sprint("10.0.0.", i+1), conditions))
		}
		whole := merge([]*EndpointSlice{sliceOf(ipv4, ports, ends...)}, podsOf(names...), EndpointsConfig{})
		parts := make([]*EndpointSlice, 1+random.IntN(8))
		for i := range parts {
			parts[i] = sliceOf(ipv4, ports)
		}
		for _, e := range append(ends, ends[:random.IntN(n)]...) {
			part := parts[random.IntN(len(parts))]
			part.Endpoints = append(part.Endpoints, e)
		}
		parts = append(parts, sliceOf(ipv6, ports, end("pod-0", "fd00::1", "rs")), sliceOf("FQDN", ports, end("pod-0", "a.example", "rs")))
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got := merge(parts, podsOf(names...), EndpointsConfig{Family: ipv4})
		if !slices.Equal(got.Containers, whole.Containers) {
			t.Fatalf("round %d: %s, want %s", round, text(got), text(whole))
		}
		sorted := slices.IsSortedFunc(got.Containers, func(a, b membership.Container) int { return strings.Compare(a.Instance, b.Instance) })
		if !sorted || len(got.Containers) > len(names) {
			t.Fatalf("round %d: %s", round, text(got))
		}
	}
}

func TestAbsentConditionsHaveKubernetesDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		conditions fields
		want       Endpoint
	}{
		"none":        {fields{}, Endpoint{Ready: true, Serving: true}},
		"terminating": {fields{"ready": false, "terminating": true}, Endpoint{Serving: true, Terminating: true}},
		"not serving": {fields{"ready": false, "serving": false, "terminating": true}, Endpoint{Terminating: true}},
	} {
		u := &unstructured.Unstructured{Object: fields{
			"kind": "EndpointSlice", "metadata": fields{"namespace": "shop", "name": "cart-x"}, "addressType": "IPv4",
			"ports": []any{fields{"name": "", "port": int64(80), "protocol": "TCP"}, fields{"name": "any"}},
			"endpoints": []any{fields{
				"addresses": []any{"10.0.0.1", "10.0.0.2"}, "conditions": c.conditions, "nodeName": "n1", "zone": "z1",
				"targetRef": fields{"kind": "Pod", "name": "a", "uid": "u"},
			}},
		}}
		object, err := toSlice(u)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Address, c.want.Pod, c.want.PodUID, c.want.Node, c.want.Zone = "10.0.0.1", "a", "u", "n1", "z1"
		got := object.(*EndpointSlice)
		if got.Endpoints[0] != c.want || got.Family != ipv4 || got.Ports[""] != 80 || got.Ports["any"] != 0 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
