// Package scaling tells the recommender what hardware autoscalers and releases changed: CPU limits, replicas, versions.
// It only looks; CPU and replicas are theirs.
package scaling

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	commonv1 "sluice.dev/api/common/v1"
)

// Source says what a service runs on now. An error is for the log, and tried again.
type Source interface {
	Read(ctx context.Context) (Reading, error)
}

// Prompt is a Source that is told of changes: it is read at once, and not only each interval.
type Prompt interface{ Changed() <-chan struct{} }

// Reading is what a source knows of one service; zero values: it does not know.
type Reading struct {
	// CPULimitCores is the limit of one instance, in cores.
	CPULimitCores float64
	// Replicas may be 0 where a service was scaled to nothing; nil is unknown.
	Replicas *uint32
	// Version of the software, or of whatever makes an old curve one of another service.
	Version string
	// Since is from when on it has been so.
	Since time.Time
}

// Change is the event that takes what was told to r: nil when nothing that r knows differs. seen is when r was first
// read, and stands in where the source does not know since when it has been so.
func (r Reading) Change(told Reading, service, source string, seen time.Time) *commonv1.ScalingEvent {
	event := &commonv1.ScalingEvent{Service: service, Source: source, At: timestamppb.New(seen)}
	changed := false
	if r.CPULimitCores > 0 && r.CPULimitCores != told.CPULimitCores {
		event.CpuLimitCores, changed = &r.CPULimitCores, true
	}
	if r.Replicas != nil && (told.Replicas == nil || *r.Replicas != *told.Replicas) {
		event.Replicas, changed = r.Replicas, true
	}
	if r.Version != "" && r.Version != told.Version {
		event.Version, changed = r.Version, true
	}
	if !changed {
		return nil
	}
	if !r.Since.IsZero() && r.Since.Before(seen) {
		event.At = timestamppb.New(r.Since)
	}
	return event
}

// over lays what r knows over what was told before.
func (r Reading) over(told Reading) Reading {
	if r.CPULimitCores > 0 {
		told.CPULimitCores = r.CPULimitCores
	}
	if r.Replicas != nil {
		told.Replicas = r.Replicas
	}
	if r.Version != "" {
		told.Version = r.Version
	}
	return told
}

// same reports whether a and b say the same of everything but since when.
func same(a, b Reading) bool {
	return a.Change(b, "", "", time.Time{}) == nil && b.Change(a, "", "", time.Time{}) == nil
}

// Words is an event for people: "cpu_limit_cores=2 replicas=3".
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
