package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func declaring(annotations ...string) *Pod {
	p := &Pod{IP: "10.0.0.1", Running: true, Service: "cart", Instance: "cart-0", ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-0", Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		p.Annotations[prefix+annotations[i]] = annotations[i+1]
	}
	return p
}

func TestAPodDeclaresItsPools(t *testing.T) {
	for name, c := range map[string]struct {
		pod    *Pod
		want   string
		faults []string
	}{
		"none": {declaring("apply", "true"), "", nil},
		"one":  {declaring("pool", "server", "target", "tomcat:8778"), "cart-0 cart/server tomcat 10.0.0.1:8778 0", nil},
		"several, with an opt-in of their own": {
			declaring("pool.threads", "server", "target.threads", "tomcat:8778/jolokia/", "apply", "true",
				"pool.rows", "client/127.0.0.1/petclinic", "target.rows", "hikari:8778", "apply.rows", "false"),
			"cart-0.rows cart/client/127.0.0.1/petclinic hikari 10.0.0.1:8778 2; cart-0.threads cart/server tomcat 10.0.0.1:8778/jolokia/ 1", nil},
		"a side that is none, and a good one": {
			declaring("pool.rows", "clint/db", "target.rows", "hikari:8778", "pool", "consumer", "target", "handler:90/rows"),
			"cart-0 cart/consumer handler 10.0.0.1:90/rows 0",
			[]string{`annotation sluice.dev/pool.rows: "clint/db": want server, consumer or client/PEER`}},
		"no target": {declaring("pool", "server"), "",
			[]string{`annotation sluice.dev/target: "": want KIND:PORT or KIND:PORT/PATH, of the kind handler, hikari, tomcat`}},
		"no pool": {declaring("target", "tomcat:8778"), "", []string{`annotation sluice.dev/pool: "": want server`}},
		"a port and a path that lead elsewhere": {
			declaring("pool.a", "server", "target.a", "tomcat:99999", "pool.b", "server", "target.b", "tomcat:80/@evil.example/"), "",
			[]string{`annotation sluice.dev/target.a: "tomcat:99999": want a port of 1 to 65535`, `annotation sluice.dev/target.b: "tomcat:80/@evil.example/": want`}},
		"an opt-in that is none counts as false": {
			declaring("pool", "server", "target", "tomcat:8778", "apply", "yes"), "cart-0 cart/server tomcat 10.0.0.1:8778 2",
			[]string{`annotation sluice.dev/apply: "yes": want true or false`}},
		"an opt-in without a pool": {declaring("apply.rows", "true"), "", []string{
			`annotation sluice.dev/pool.rows: "": want server`, `annotation sluice.dev/target.rows: "": want KIND`}},
		"an SLO of all pools, and a pool's own": {
			declaring("pool.threads", "server", "target.threads", "tomcat:8778", "slo", "200ms",
				"pool.rows", "client/db", "target.rows", "hikari:8778", "slo.rows", "1h"),
			"cart-0.rows cart/client/db hikari 10.0.0.1:8778 0 slo 1h0m0s; cart-0.threads cart/server tomcat 10.0.0.1:8778 0 slo 200ms", nil},
		"the shortest SLO": {declaring("pool", "server", "target", "tomcat:8778", "slo", "1ms"), "cart-0 cart/server tomcat 10.0.0.1:8778 0 slo 1ms", nil},
		"an SLO that is not legal opts out": {
			declaring("pool", "server", "target", "tomcat:8778", "apply", "true", "slo", "999us",
				"pool.rows", "client/db", "target.rows", "hikari:8778", "slo.rows", "3601s"),
			"cart-0 cart/server tomcat 10.0.0.1:8778 2; cart-0.rows cart/client/db hikari 10.0.0.1:8778 2",
			[]string{`annotation sluice.dev/slo: "999us": want a duration of 1ms to 1h, such as 200ms`, `annotation sluice.dev/slo.rows: "3601s": want`}},
		"an SLO without a unit, of no pool": {declaring("slo.rows", "200"), "", []string{
			`annotation sluice.dev/slo.rows: "200": want a duration`, `annotation sluice.dev/pool.rows: "": want server`, `annotation sluice.dev/target.rows: "": want KIND`}},
		"a name that is none": {declaring("aply", "true"), "", []string{"annotation sluice.dev/aply: want pool, target, apply, slo (each"}},
	} {
		endpoints, faults := declared(c.pod, nil)
		var got []string
		for _, e := range endpoints {
			slo := ""
			if e.SLO > 0 {
				slo = " slo " + e.SLO.String()
			}
			got = append(got, fmt.Sprint(e.Name, " ", e.Pool, " ", e.Kind, " ", e.Address, e.Path, " ", e.OptIn, slo))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
		if !slices.EqualFunc(faults, c.faults, func(err error, want string) bool { return strings.HasPrefix(err.Error(), want) }) {
			t.Errorf("%s: %v, want %v", name, faults, c.faults)
		}
	}
}

func TestNamesOfAPod(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a pod alone": {"{}", "cart-7f9c-x cart-7f9c-x v1/Pod/cart-7f9c-x"},
		"a Deployment's": {`{labels: {pod-template-hash: 7f9c}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: cart-7f9c, uid: u, controller: true}]}`,
			"cart cart-7f9c-x apps/v1/Deployment/cart"},
		"a StatefulSet's, with a label": {`{labels: {app.kubernetes.io/name: cart-app}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}`,
			"cart-app cart-7f9c-x apps/v1/StatefulSet/db"},
		"annotations": {`{labels: {app.kubernetes.io/name: other}, annotations: {resource.opentelemetry.io/service.name: cart, resource.opentelemetry.io/service.instance.id: one}}`,
			"cart one v1/Pod/cart-7f9c-x"},
	} {
		text := strings.Replace(c.text, "{", "{namespace: shop, name: cart-7f9c-x, uid: u, ", 1)
		p := podOf(t, "{apiVersion: v1, kind: Pod, metadata: "+text+", spec: {containers: [{name: app}]}}")
		if got := p.Service + " " + p.Instance + " " + p.Workload.APIVersion + "/" + p.Workload.Kind + "/" + p.Workload.Name; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNamesInTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct{ env, want string }{
		"a literal":                     {`{name: OTEL_SERVICE_NAME, value: front}`, "front cart-0"},
		"a label":                       {`{name: OTEL_SERVICE_NAME, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}`, "cart cart-0"},
		"the name before the attribute": {`{name: OTEL_SERVICE_NAME, value: front}, {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=back"}`, "front cart-0"},
		"escaped":                       {`{name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=a%2Cb, team=x"}`, "a,b cart-0"},
		"as the operator writes": {
			`{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: OTEL_RESOURCE_ATTRIBUTES, value: "service.name=cart,service.instance.id=shop.$(POD).app"}`,
			"cart shop.cart-0.app"},
		"of a Secret": {`{name: NAME, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: OTEL_SERVICE_NAME, value: $(NAME)}`, "web cart-0"},
	} {
		p := podOf(t, `{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: cart-0, labels: {app: cart, app.kubernetes.io/name: web}},
			spec: {containers: [{name: proxy, env: [{name: LEVEL, value: info}]}, {name: app, env: [`+c.env+`]}]}}`)
		if got := p.Service + " " + p.Instance; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func podOf(t *testing.T, text string) *Pod {
	t.Helper()
	p, err := toPod(object(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Pod)
}
