package kube

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/pool"
	poolsv1 "sluice.dev/api/pools/v1"
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
			"[fd00::1]:8778 cart-a 0; 10.0.0.2:9000/actuator/jolokia cart-b 0", ""},
		"the namespace opts in, a pod out": {
			[]*Pod{at("a", "10.0.0.1"), at("b", "10.0.0.2", "apply", "false"), at("c", "10.0.0.3", "apply", "yes")}, optedIn,
			"10.0.0.1:8778 a 1; 10.0.0.2:8778 b 2; 10.0.0.3:8778 c 2", `pod c: annotation sluice.dev/apply: "yes": want true or false`},
		"a pod opts in":     {[]*Pod{at("a", "10.0.0.1", "apply", "true")}, nil, "10.0.0.1:8778 a 1", ""},
		"the name in spans": {[]*Pod{at("a", "10.0.0.1", "instance", "cart@7")}, nil, "10.0.0.1:8778 cart@7 0", ""},
		"an SLO":            {[]*Pod{at("a", "10.0.0.1", "slo", "200ms")}, nil, "10.0.0.1:8778 a 0 200ms", ""},
		"an SLO that is not legal": {
			[]*Pod{at("a", "10.0.0.1", "slo", "fast")}, optedIn, "10.0.0.1:8778 a 2", `pod a: annotation sluice.dev/slo: "fast": want a duration`},
		"no port": {[]*Pod{at("a", "10.0.0.1", "port", "http"), at("b", "10.0.0.2")}, nil, "10.0.0.2:8778 b 0", "pod a: annotation sluice.dev/port"},
		"a path that leads elsewhere": {
			[]*Pod{at("a", "10.0.0.1", "path", "@metadata.internal/")}, nil, "", "pod a: annotation sluice.dev/path"},
	} {
		cart := pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER}
		discovery := &Pods{config: PodsConfig{Namespace: "shop", Port: 8778}, pool: cart}
		endpoints, faults := discovery.instances(c.pods, map[string]map[string]string{"shop": c.namespace})
		var got []string
		for _, e := range endpoints {
			text := fmt.Sprint(e.Address, e.Path, " ", e.Instance, " ", e.OptIn)
			if e.SLO > 0 {
				text += " " + e.SLO.String()
			}
			got = append(got, text)
			if e.Object.Namespace != "shop" || e.Object.UID != "u-1" || e.Pool != cart {
				t.Errorf("%s: %v", name, e)
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
		if text := fmt.Sprint(faults); (len(faults) == 0) != (c.fault == "") || !strings.Contains(text, c.fault) {
			t.Errorf("%s: %v, want %q", name, text, c.fault)
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
