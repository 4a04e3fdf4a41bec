package kube

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// object is one as the API server sends it.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.ToJSON([]byte("---\n" + text))
	if err == nil {
		err = json.Unmarshal(data, &u.Object) // whole numbers are int64, as from the server
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const cartPod = `
metadata:
  {namespace: shop, name: cart-0, uid: u, resourceVersion: "7", labels: {app: cart}, annotations: {sluice.dev/port: "9", huge: text}}
spec:
  containers:
    - {name: cart, resources: {requests: {cpu: 500m}, limits: {cpu: "2"}}}
    - {name: proxy, resources: {limits: {memory: 1Gi}}}
status:
  phase: Running
  podIP: 10.0.0.1
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: proxy}, {name: cart, resources: {limits: {cpu: 1500m}}}]
`

func TestPod(t *testing.T) {
	kept, err := toPod(object(t, cartPod))
	if err != nil {
		t.Fatal(err)
	}
	p := kept.(*Pod)
	if !p.Running || !p.Ready || p.IP != "10.0.0.1" || p.ResourceVersion != "7" || p.UID != "u" || fmt.Sprint(p.Annotations) != "map[sluice.dev/port:9]" {
		t.Errorf("%+v", p)
	}
	if want := (Container{Name: "cart", Request: 0.5, Limit: 2, InForce: 1.5}); p.Containers[0] != want || p.Containers[0].least() != 1.5 {
		t.Errorf("%+v, want %+v", p.Containers[0], want)
	}
	if c := p.Containers[1]; c.least() != 0 {
		t.Errorf("a limit where there is none: %+v", c)
	}
	ends := object(t, cartPod)
	unstructured.SetNestedField(ends.Object, "2026-11-22T00:00:00Z", "metadata", "deletionTimestamp")
	if kept, err := toPod(ends); err != nil || kept.(*Pod).Running {
		t.Errorf("a pod that ends runs: %+v, %v", kept, err)
	}
}

func TestWorkload(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		desired uint32
		rolling bool
	}{
		"no number is one":         {`{spec: {selector: {matchLabels: {app: cart}}}, status: {updatedReplicas: 1}}`, 1, false},
		"none":                     {`{spec: {replicas: 0, selector: {matchLabels: {app: cart}}}}`, 0, false},
		"pods of before are left":  {`{spec: {replicas: 3, selector: {matchLabels: {app: cart}}}, status: {updatedReplicas: 1}}`, 3, true},
		"not looked at yet":        {`{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 1, updatedReplicas: 1}}`, 1, true},
		"replaced only on request": {`{spec: {replicas: 3, updateStrategy: {type: OnDelete}}, status: {updatedReplicas: 1}}`, 3, false},
	} {
		kept, err := toWorkload(object(t, c.text))
		if w, ok := kept.(*Workload); err != nil || !ok || w.Desired != c.desired || w.Rolling != c.rolling {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
	}
}

func TestAutoscalers(t *testing.T) {
	kept, err := toAutoscaler(object(t, `
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}}
status: {desiredReplicas: 4, conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "True"}]}`))
	if h := kept.(*Autoscaler); err != nil || h.Of != (Ref{"Deployment", "cart"}) || h.Desired != 4 || !h.Active {
		t.Errorf("%+v, %v", h, err)
	}
	for mode, acts := range map[string]bool{"Recreate": true, "InPlaceOrRecreate": true, "Off": false, "Initial": false} {
		kept, err := toVertical(object(t, `
spec: {targetRef: {kind: Deployment, name: cart}, updatePolicy: {updateMode: "`+mode+`"}}
status: {recommendation: {containerRecommendations: [{containerName: cart, target: {cpu: 250m, memory: 1Gi}, upperBound: {cpu: "1"}}]}}`))
		if v := kept.(*Vertical); err != nil || v.Acts != acts || v.Advice["cart"] != (Advice{Target: 0.25, Upper: 1}) {
			t.Errorf("%s: %+v, %v", mode, v, err)
		}
	}
}
