// Package scaling notifies the recommender of changes by hardware autoscalers and releases: CPU limits, replicas, versions.
// It only reads; CPU and replicas belong to the autoscalers.
package scaling

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	commonv1 "sluice.dev/api/common/v1"
)

// Source reads the hardware and version of a service. An error is logged, and the reading tried again.
type Source interface {
	Read(ctx context.Context) (Reading, error)
}

// Prompt is a Source that signals changes: it is read at once then, and not only each interval.
type Prompt interface{ Changed() <-chan struct{} }

// Reading is the knowledge of a source about one service; zero values are unknown.
type Reading struct {
	// CPULimitCores is the limit of one instance, in cores.
	CPULimitCores float64
	// Replicas may be 0 where a service was scaled to nothing; nil is unknown.
	Replicas *uint32
	// Version of the software, or of anything else whose change invalidates an old curve.
	Version string
	// Since is the time of the last change.
	Since time.Time
}

// Change is the event that leads from `reported` to r: nil when no known value of r differs. readAt is when r was first read, and
// replaces an unknown Since.
func (r Reading) Change(reported Reading, service, source string, readAt time.Time) *commonv1.ScalingEvent {
	event := &commonv1.ScalingEvent{Service: service, Source: source, At: timestamppb.New(readAt)}
	changed := false
	if r.CPULimitCores > 0 && r.CPULimitCores != reported.CPULimitCores {
		event.CpuLimitCores, changed = &r.CPULimitCores, true
	}
	if r.Replicas != nil && (reported.Replicas == nil || *r.Replicas != *reported.Replicas) {
		event.Replicas, changed = r.Replicas, true
	}
	if r.Version != "" && r.Version != reported.Version {
		event.Version, changed = r.Version, true
	}
	if !changed {
		return nil
	}
	if !r.Since.IsZero() && r.Since.Before(readAt) {
		event.At = timestamppb.New(r.Since)
	}
	return event
}

// over lays the known values of r over `reported`.
func (r Reading) over(reported Reading) Reading {
	if r.CPULimitCores > 0 {
		reported.CPULimitCores = r.CPULimitCores
	}
	if r.Replicas != nil {
		reported.Replicas = r.Replicas
	}
	if r.Version != "" {
		reported.Version = r.Version
	}
	return reported
}

// same is true when a and b have equal values; Since does not count.
func same(a, b Reading) bool {
	return a.Change(b, "", "", time.Time{}) == nil && b.Change(a, "", "", time.Time{}) == nil
}

// Words returns an event as text for people: "cpu_limit_cores=2 replicas=3".
func Words(event *commonv1.ScalingEvent) string {
	var all []string
	if event.CpuLimitCores != nil {
		all = append(all, fmt.Sprintf("cpu_limit_cores=%g", event.GetCpuLimitCores()))
	}
	if event.Replicas != nil {
		all = append(all, fmt.Sprintf("replicas=%d", event.GetReplicas()))
	}
	if event.Version != "" {
		all = append(all, "version="+event.GetVersion())
	}
	return strings.Join(all, " ")
}
