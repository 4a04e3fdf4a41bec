package kube

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/record"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/reconcile"
	commonv1 "sluice.dev/api/common/v1"
)

// EventRecorder makes Events: of a pod, for recommended, applied, failed and refused sizes; of a workload, for the scaling
// that the recommender took. They wait in a bounded queue. Repeated Events are counted, and more than a few of one object wait
// for minutes. It implements pools.Recorder.
type EventRecorder struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder

	mu      sync.Mutex
	targets map[string]pools.Target
	// last is the last Event of a target whose repetition is suppressed.
	last map[string]string
}

// EventRecorder sends Events until ctx ends.
func (c *Cluster) EventRecorder(ctx context.Context, actuator string) *EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(sink{c.client})
	c.events = &EventRecorder{
		broadcaster: broadcaster, targets: map[string]pools.Target{}, last: map[string]string{},
		recorder: broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: "sluice-actuator", Host: actuator}),
	}
	return c.events
}

// refuse reports a fault in the annotations of a pod.
func (c *Cluster) refuse(fault podFault) {
	c.refusals.Add(1)
	c.log.Warn("an annotation is refused", "error", fault)
	if c.events != nil {
		pod := discover.Object{Namespace: fault.pod.Namespace, Name: fault.pod.Name, UID: string(fault.pod.UID)}
		c.events.recorder.Event(reference("v1", "Pod", pod), corev1.EventTypeWarning, "AnnotationRefused", fault.err.Error())
	}
}

// Refusals is how many annotations were refused.
func (c *Cluster) Refusals() uint64 { return c.refusals.Load() }

// Begin implements pools.Recorder.
func (t *EventRecorder) Begin(target pools.Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.targets[target.Name] = target
}

// End implements pools.Recorder.
func (t *EventRecorder) End(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.targets, name)
	delete(t.last, name)
}

// Record implements pools.Recorder.
func (t *EventRecorder) Record(p pools.Pass) {
	t.mu.Lock()
	target, there := t.targets[p.Target]
	kind, reason, text := eventOf(p)
	again := reason == "" || reason+text == t.last[p.Target]
	if p.ReadErr == nil {
		t.last[p.Target] = reason + text
	}
	t.mu.Unlock()
	if there && !again && target.Object.Name != "" {
		t.recorder.Event(reference("v1", "Pod", target.Object), kind, reason, target.Pool.String()+": "+text)
	}
}

// eventOf returns the Event of a pass; an empty reason for none.
func eventOf(p pools.Pass) (kind, reason, text string) {
	if p.ReadErr != nil {
		return "", "", ""
	}
	report := p.Report
	switch p.Outcome() {
	case reconcile.Applied:
		return corev1.EventTypeNormal, "PoolSizeApplied", fmt.Sprintf("%d over %s, revision %d: %s",
			report.GetRequested(), p.Current, report.GetRevision(), report.GetDetail())
	case reconcile.Failed:
		return corev1.EventTypeWarning, "PoolSizeFailed", fmt.Sprintf("%d over %s, revision %d: %s",
			report.GetRequested(), p.Current, report.GetRevision(), report.GetDetail())
	case reconcile.Refused:
		return corev1.EventTypeWarning, "PoolSizeRefused", report.GetDetail()
	}
	switch d := p.Decision; {
	case d.Action == policy.Observe && (d.Code == policy.Differs || d.Code == policy.Step):
		return corev1.EventTypeNormal, "PoolSizeRecommended", fmt.Sprintf("%d recommended, %s in force; not opted in",
			p.Answer.GetTarget(), p.Current)
	case d.Code == policy.Foreign:
		return corev1.EventTypeWarning, "PoolOwnedElsewhere", d.Text
	}
	return "", "", ""
}

// Scaled makes an Event of a workload's change that the recommender took.
func (t *EventRecorder) Scaled(s *Scaled, event *commonv1.ScalingEvent, words string) {
	if object, there := s.object(); there {
		t.recorder.Event(reference("apps/v1", s.config.Kind, object), corev1.EventTypeNormal, "RecommenderTold",
			event.GetService()+": "+words)
	}
}

func reference(version, kind string, o discover.Object) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: o.Namespace, Name: o.Name, UID: types.UID(o.UID)}
}

// sink writes Events.
type sink struct{ client dynamic.Interface }

func (s sink) Create(e *corev1.Event) (*corev1.Event, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetAPIVersion("v1")
	u.SetKind("Event")
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	u, err = s.client.Resource(events).Namespace(e.Namespace).Create(ctx, u, metav1.CreateOptions{})
	return event(u, err)
}

// Update is never called: repeated Events are patched.
func (s sink) Update(e *corev1.Event) (*corev1.Event, error) { return s.Create(e) }

func (s sink) Patch(e *corev1.Event, data []byte) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	u, err := s.client.Resource(events).Namespace(e.Namespace).Patch(ctx, e.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
	return event(u, err)
}

func event(u *unstructured.Unstructured, err error) (*corev1.Event, error) {
	if err != nil {
		return nil, err
	}
	e := &corev1.Event{}
	return e, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, e)
}
