package kube

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice.dev/actuators/internal/scaling"
)

func TestPoolsGrowAfterTheHardwareAndShrinkBeforeIt(t *testing.T) {
	var reading scaling.Reading
	for i, step := range []struct {
		now      Hardware
		replicas string
		cores    float64
	}{
		{Hardware{Desired: 2, Ready: 0}, "unknown", 0},                 // first seen while it comes up
		{Hardware{Desired: 2, Ready: 1, Cores: 2}, "1", 2},             //
		{Hardware{Desired: 2, Ready: 2, Cores: 2}, "2", 2},             //
		{Hardware{Desired: 6, Ready: 2, Cores: 2}, "2", 2},             // the HPA wants more: nothing yet
		{Hardware{Desired: 6, Ready: 4, Cores: 2}, "4", 2},             // as they are ready
		{Hardware{Desired: 6, Ready: 3, Cores: 2}, "4", 2},             // one is not ready for a moment
		{Hardware{Desired: 6, Ready: 6, Cores: 2}, "6", 2},             //
		{Hardware{Desired: 2, Ready: 6, Cores: 2}, "2", 2},             // fewer: at once, while all six still serve
		{Hardware{Desired: 2, Ready: 2, Cores: 2}, "2", 2},             //
		{Hardware{Desired: 2, Ready: 2, Cores: 4}, "2", 4},             // every pod has more
		{Hardware{Desired: 2, Ready: 2, Cores: 4, Falling: 1}, "2", 1}, // about to be less
		{Hardware{Desired: 2, Ready: 2, Cores: 4, Falling: 8}, "2", 4}, // what is about to be more waits
		{Hardware{Desired: 2, Ready: 0}, "2", 4},                       // all are away for a moment: nothing is known
		{Hardware{Desired: 0, Ready: 0}, "0", 4},                       // scaled to nothing
		{Hardware{Desired: 3, Ready: 0}, "0", 4},                       //
	} {
		reading = Next(reading, step.now)
		replicas := "unknown"
		if reading.Replicas != nil {
			replicas = fmt.Sprint(*reading.Replicas)
		}
		if replicas != step.replicas || reading.CPULimitCores != step.cores {
			t.Errorf("step %d: replicas %s, cores %g, want %s and %g", i, replicas, reading.CPULimitCores, step.replicas, step.cores)
		}
	}
}

func pod(ready bool, version string, c ...Container) *Pod {
	return &Pod{Running: true, Ready: ready, Containers: c, ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{versionLabel: version}}}
}

func TestObserved(t *testing.T) {
	cart := func(limit, inForce float64) Container {
		return Container{Name: "cart", Request: limit / 2, Limit: limit, InForce: inForce}
	}
	proxy := Container{Name: "proxy", Limit: 0.1}
	two := &Workload{Desired: 2}
	for name, c := range map[string]struct {
		workload   *Workload
		pods       []*Pod
		autoscaler *Autoscaler
		vertical   *Vertical
		container  string
		want       Hardware
	}{
		"the first container counts": {
			two, []*Pod{pod(true, "1", cart(2, 0), proxy), pod(true, "1", cart(2, 2), proxy)}, nil, nil, "",
			Hardware{Desired: 2, Ready: 2, Cores: 2, Version: "1"}},
		"or the one that is named": {
			two, []*Pod{pod(true, "1", proxy, cart(2, 0))}, nil, nil, "cart", Hardware{Desired: 2, Ready: 1, Cores: 2, Version: "1"}},
		"a limit that grew in the spec, and not yet on the node": {
			two, []*Pod{pod(true, "1", cart(4, 2))}, nil, nil, "", Hardware{Desired: 2, Ready: 1, Cores: 2, Version: "1"}},
		"a limit that fell in the spec, and not yet on the node": {
			two, []*Pod{pod(true, "1", cart(1, 2))}, nil, nil, "", Hardware{Desired: 2, Ready: 1, Cores: 1, Version: "1"}},
		"pods that differ: the least; no version while they do": {
			two, []*Pod{pod(true, "1", cart(2, 2)), pod(true, "2", cart(4, 4)), pod(false, "2", cart(1, 1))}, nil, nil, "",
			Hardware{Desired: 2, Ready: 2, Cores: 2}},
		"an HPA that acts says first how many": {
			&Workload{Desired: 6}, nil, &Autoscaler{Desired: 2, Active: true}, nil, "", Hardware{Desired: 2}},
		"one that does not know its metrics says nothing": {
			&Workload{Desired: 6}, nil, &Autoscaler{Desired: 2}, nil, "", Hardware{Desired: 6}},
		"a rollout to a smaller limit": {
			&Workload{Desired: 1, Rolling: true, Containers: []Container{cart(1, 0)}}, []*Pod{pod(true, "1", cart(2, 2))}, nil, nil, "",
			Hardware{Desired: 1, Ready: 1, Cores: 2, Falling: 1, Version: "1"}},
		"a VPA that acts, above its upper bound: request 1 -> 0.5 halves the limit": {
			two, []*Pod{pod(true, "1", cart(2, 2))}, nil,
			&Vertical{Acts: true, Advice: map[string]Advice{"cart": {Target: 0.5, Upper: 0.8}}}, "",
			Hardware{Desired: 2, Ready: 1, Cores: 2, Falling: 1, Version: "1"}},
		"within its bound it leaves the pod alone": {
			two, []*Pod{pod(true, "1", cart(2, 2))}, nil,
			&Vertical{Acts: true, Advice: map[string]Advice{"cart": {Target: 0.5, Upper: 1}}}, "",
			Hardware{Desired: 2, Ready: 1, Cores: 2, Version: "1"}},
		"a VPA that only advises": {
			two, []*Pod{pod(true, "1", cart(2, 2))}, nil,
			&Vertical{Advice: map[string]Advice{"cart": {Target: 0.5, Upper: 0.8}}}, "",
			Hardware{Desired: 2, Ready: 1, Cores: 2, Version: "1"}},
		"no limit at all": {two, []*Pod{pod(true, "1", Container{Name: "cart"})}, nil, nil, "", Hardware{Desired: 2, Ready: 1, Version: "1"}},
	} {
		if got := Observed(c.workload, c.pods, c.autoscaler, c.vertical, c.container); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
