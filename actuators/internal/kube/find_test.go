package kube

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice.dev/actuators/internal/discover"
)

func TestInstances(t *testing.T) {
	at := func(name, ip string, annotations ...string) *Pod {
		p := &Pod{IP: ip, Running: true, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "u-" + "1", Annotations: map[string]string{}}}
		for i := 0; i < len(annotations); i += 2 {
			p.Annotations[prefix+annotations[i]] = annotations[i+1]
		}
		return p
	}
	ends := at("cart-9", "10.0.0.9")
	ends.Running = false
	optedIn := map[string]string{applyAnnotation: "true"}
	for name, c := range map[string]struct {
		pods      []*Pod
		namespace map[string]string
		want      string
		fault     string
	}{
		"by name, each where it says": {
			[]*Pod{at("cart-b", "10.0.0.2", "port", "9000", "path", "/actuator/jolokia"), at("cart-a", "fd00::1"), ends}, nil,
			"[{[fd00::1]:8778 cart-a  0 {shop cart-a u-1}} {10.0.0.2:9000 cart-b /actuator/jolokia 0 {shop cart-b u-1}}]", ""},
		"the namespace opts in, a pod out": {
			[]*Pod{at("a", "10.0.0.1"), at("b", "10.0.0.2", "apply", "false"), at("c", "10.0.0.3", "apply", "yes")}, optedIn,
			"[{10.0.0.1:8778 a  1 {shop a u-1}} {10.0.0.2:8778 b  2 {shop b u-1}} {10.0.0.3:8778 c  2 {shop c u-1}}]", ""},
		"a pod opts in":     {[]*Pod{at("a", "10.0.0.1", "apply", "true")}, nil, "[{10.0.0.1:8778 a  1 {shop a u-1}}]", ""},
		"the name in spans": {[]*Pod{at("a", "10.0.0.1", "instance", "cart@7")}, nil, "[{10.0.0.1:8778 cart@7  0 {shop a u-1}}]", ""},
		"no port":           {[]*Pod{at("a", "10.0.0.1", "port", "http"), at("b", "10.0.0.2")}, nil, "[{10.0.0.2:8778 b  0 {shop b u-1}}]", "pod a: annotation sluice.dev/port"},
		"a path that leads elsewhere": {
			[]*Pod{at("a", "10.0.0.1", "path", "@metadata.internal/")}, nil, "[]", "pod a: annotation sluice.dev/path"},
	} {
		endpoints, err := instances(c.pods, c.namespace, 8778)
		if got := fmt.Sprint(endpoints); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want %q", name, err, c.fault)
		}
	}
}

func TestAPathIsOfThePodOnly(t *testing.T) {
	for text, legal := range map[string]bool{
		"": true, "/": true, "/jolokia/": true, "/a/b-c_d.e~f": true, "jolokia": false, "//evil.example/": false, "/a?b": false, "/a#b": false,
		"@evil.example": false, "/a%2f": false, ":1/": false,
	} {
		if path.MatchString(text) != legal {
			t.Errorf("%q: legal is %t, want %t", text, !legal, legal)
		}
	}
}

func TestWhatMakesItAnotherTarget(t *testing.T) {
	a := discover.Endpoint{Address: "10.0.0.1:80", Instance: "cart-0", Object: discover.Object{UID: "1"}}
	for _, b := range []discover.Endpoint{
		{Address: "10.0.0.1:80", Instance: "cart-0", Object: discover.Object{UID: "2"}},
		{Address: "10.0.0.1:80", Instance: "cart-0", Object: discover.Object{UID: "1"}, OptIn: discover.In},
		{Address: "10.0.0.1:80", Instance: "cart-0", Object: discover.Object{UID: "1"}, Path: "/x"},
	} {
		if a.Identity() == b.Identity() {
			t.Errorf("%v is the same as %v", a, b)
		}
	}
}
