package calls

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/serve/internal/problem"

	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// Limits of the values in reports.
const (
	mostID     = 64
	mostDetail = 4096
	mostWhy    = 1024
	// mostSize bounds the size that an operator sets: no instance has so many threads or connections.
	mostSize = 100_000
	// mostAhead is how many revisions the caller's last server may be ahead of this one.
	mostAhead = 1000
	// mostCores: no machine has more; a larger limit is in another unit, such as 500m read as 500,000.
	mostCores = 10_000
	// firstSecond to endSecond is the range that both a DateTime64(3) of the tables and Python's datetime can hold.
	firstSecond, endSecond = 0, 9_214_646_400
)

func checkID(id string) error {
	if len(id) > mostID {
		return problem.NotLegal("request_id", id, fmt.Sprintf("up to %d characters", mostID))
	}
	for _, c := range id {
		if c <= ' ' || c > '~' {
			return problem.NotLegal("request_id", id, "printable ASCII without spaces")
		}
	}
	return nil
}

// checkActuation returns the faults of a report; newest is the revision of the newest decision here.
func checkActuation(a *poolsv1.Actuation, newest uint64) error {
	const f = "actuation."
	if err := firstOf(
		checkName(f+"target_name", a.GetTargetName(), "the target's name in the actuator's configuration", true),
		checkName(f+"actuator", a.GetActuator(), "the name of the actuator", true),
		checkName(f+"instance", a.GetInstance(), "the target's instance, or empty", false),
		checkName(f+"reporter", a.GetReporter(), "the actuator's name, host and status address, or empty", false),
		checkText(f+"detail", a.GetDetail(), mostDetail),
		checkTime(f+"at", a.GetAt()),
		checkSLO(f+"slo", a.GetSlo()),
	); err != nil {
		return err
	}
	if _, known := poolsv1.ActuationOutcome_name[int32(a.GetOutcome())]; !known || a.GetOutcome() == 0 {
		return problem.NotLegal(f+"outcome", int32(a.GetOutcome()), enumNames(poolsv1.ActuationOutcome_name))
	}
	if a.GetRevision() > newest+mostAhead {
		return problem.NotLegal(f+"revision", a.GetRevision(), fmt.Sprintf("0 to %d, %d more than the newest decision's", newest+mostAhead, mostAhead))
	}
	if a.ReadBack != nil && a.GetUnbounded() {
		return problem.Conflict(f+"read_back", "is set, and unbounded too", "one of them")
	}
	for field, size := range map[string]*uint32{"read_back": a.ReadBack, "previous": a.Previous, "requested": a.Requested} {
		if size != nil && *size < 1 {
			return problem.NotLegal(f+field, *size, ">= 1, or absent")
		}
	}
	if err := checkOccupancy(a.GetOccupancy()); err != nil {
		return err
	}
	return checkSizes(a)
}

// checkSizes checks that the sizes fit the outcome.
func checkSizes(a *poolsv1.Actuation) error {
	const f = "actuation."
	switch a.GetOutcome() {
	case poolsv1.ActuationOutcome_ACTUATION_OUTCOME_APPLIED:
		if a.ReadBack == nil {
			return problem.Conflict(f+"read_back", "is missing for ACTUATION_OUTCOME_APPLIED", "the size read from the target, >= 1")
		}
	case poolsv1.ActuationOutcome_ACTUATION_OUTCOME_OBSERVED:
		if a.ReadBack == nil && a.Previous == nil && !a.GetUnbounded() {
			return problem.Conflict(f+"read_back", "is missing for ACTUATION_OUTCOME_OBSERVED", "the size read from the target, >= 1, or unbounded")
		}
	}
	return nil
}

func checkScaling(event *commonv1.ScalingEvent) error {
	const f = "scaling_event."
	if err := firstOf(
		checkName(f+"service", event.GetService(), "a service name", true),
		checkName(f+"source", event.GetSource(), "the reporting process", true),
		checkName(f+"version", event.GetVersion(), "the service's version, or empty", false),
		checkTime(f+"at", event.GetAt()),
	); err != nil {
		return err
	}
	if event.CpuLimitCores == nil && event.Replicas == nil && event.GetVersion() == "" && len(event.GetContainers()) == 0 {
		return problem.Conflict("scaling_event", "has no change", "cpu_limit_cores, replicas, version or containers set")
	}
	if err := checkContainers(event.GetContainers()); err != nil {
		return err
	}
	if cores := event.CpuLimitCores; cores != nil && !(*cores > 0 && *cores <= mostCores) {
		return problem.NotLegal(f+"cpu_limit_cores", *cores, fmt.Sprintf("> 0 to %d", mostCores))
	}
	return nil
}

// mostContainers bounds the containers of one service, whose record in the journal has to fit a message.
const mostContainers = 10_000

func checkContainers(containers []*commonv1.ServiceContainer) error {
	const f = "scaling_event.containers"
	if len(containers) > mostContainers {
		return problem.NotLegal(f, fmt.Sprintf("%d containers", len(containers)), fmt.Sprintf("at most %d", mostContainers))
	}
	instances := make(map[string]bool, len(containers))
	for _, container := range containers {
		if err := firstOf(
			checkName(f+".instance", container.GetInstance(), "the instance of its spans", true),
			checkName(f+".address", container.GetAddress(), "host:port, or empty", false),
			checkName(f+".host", container.GetHost(), "its host's name, or empty", false),
			checkName(f+".zone", container.GetZone(), "its zone, or empty", false),
		); err != nil {
			return err
		}
		if instances[container.GetInstance()] {
			return problem.Conflict(f, fmt.Sprintf("names %q twice", container.GetInstance()), "each instance once")
		}
		instances[container.GetInstance()] = true
	}
	return nil
}

func checkName(field, value, legal string, required bool) error {
	switch {
	case required && value == "":
		return problem.Empty(field, legal)
	case len(value) > problem.MostName:
		return problem.NotLegal(field, value, fmt.Sprintf("at most %d bytes", problem.MostName))
	}
	return nil
}

func checkText(field, value string, most int) error {
	if len(value) > most {
		return problem.NotLegal(field, value, fmt.Sprintf("at most %d bytes", most))
	}
	return nil
}

func checkTime(field string, given *timestamppb.Timestamp) error {
	if given != nil && (given.CheckValid() != nil || given.GetSeconds() < firstSecond || given.GetSeconds() >= endSecond) {
		return problem.NotLegal(field, fmt.Sprintf("%d s", given.GetSeconds()), "1970-01-01 to 2261-12-31, or absent")
	}
	return nil
}

func checkSLO(field string, slo *durationpb.Duration) error {
	if slo != nil && (slo.CheckValid() != nil || slo.AsDuration() < time.Millisecond || slo.AsDuration() > time.Hour) {
		return problem.NotLegal(field, fmt.Sprintf("%d s %d ns", slo.GetSeconds(), slo.GetNanos()), "1 ms to 1 h, or absent")
	}
	return nil
}

func firstOf(problems ...error) error {
	for _, problem := range problems {
		if problem != nil {
			return problem
		}
	}
	return nil
}
