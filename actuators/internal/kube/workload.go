package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/scaling"
)

// announced is how long a smaller limit counts that pods are about to get, and do not get: an eviction may be refused for
// good.
const announced = 10 * time.Minute

// Scaled watches one workload and its autoscalers. It implements scaling.Source.
type Scaled struct {
	config               WorkloadConfig
	workload             *feed
	pods                 *feed
	horizontal, vertical *feed
	wake                 chan struct{}

	reading scaling.Reading
	falling float64
	since   time.Time
}

// Workload watches a workload of the configuration.
func (c *Cluster) Workload(config WorkloadConfig) *Scaled {
	s := &Scaled{
		config: config, wake: make(chan struct{}, 1),
		workload:   c.feed(workloads[config.Kind], config.Namespace, "", "metadata.name="+config.Name, toWorkload),
		pods:       c.feed(pods, config.Namespace, "", "", toPod),
		horizontal: c.feed(autoscalers, config.Namespace, "", "", toAutoscaler),
		vertical:   c.feed(verticals, config.Namespace, "", "", toVertical), // lists nothing where its CRD is not installed
	}
	for _, f := range []*feed{s.workload, s.pods, s.horizontal, s.vertical} {
		f.notify(s.wake)
	}
	return s
}

// Changed implements scaling.Prompt.
func (s *Scaled) Changed() <-chan struct{} { return s.wake }

// Read implements scaling.Source.
func (s *Scaled) Read(ctx context.Context) (scaling.Reading, error) {
	for _, f := range []*feed{s.workload, s.pods} {
		if err := f.synced(ctx); err != nil {
			return scaling.Reading{}, err
		}
	}
	workload := s.now()
	if workload == nil {
		return scaling.Reading{}, fmt.Errorf("%s %s/%s: does not exist", s.config.Kind, s.config.Namespace, s.config.Name)
	}
	var of []*Pod
	for _, pod := range listed[*Pod](s.pods) {
		if workload.Selector.Matches(labels.Set(pod.Labels)) {
			of = append(of, pod)
		}
	}
	ref := Ref{s.config.Kind, s.config.Name}
	horizontal := last(s.horizontal, func(a *Autoscaler) bool { return a.Of == ref })
	vertical := last(s.vertical, func(v *Vertical) bool { return v.Of == ref })
	now := Observed(workload, of, horizontal, vertical, s.config.Container)
	now.Falling = s.soon(now.Falling, time.Now())
	s.reading = Next(s.reading, now)
	return s.reading, nil
}

// now returns the workload; nil while it does not exist.
func (s *Scaled) now() *Workload { return last(s.workload, func(*Workload) bool { return true }) }

// object names the workload for Events.
func (s *Scaled) object() (o discover.Object, there bool) {
	w := s.now()
	if w == nil {
		return o, false
	}
	return discover.Object{Namespace: w.Namespace, Name: w.Name, UID: string(w.UID)}, true
}

// soon returns a falling limit for as long as it may still come.
func (s *Scaled) soon(falling float64, now time.Time) float64 {
	if falling != s.falling {
		s.falling, s.since = falling, now
	}
	if now.Sub(s.since) > announced {
		return 0
	}
	return falling
}
