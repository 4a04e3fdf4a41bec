package kube

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/watch"
	commonv1 "sluice.dev/api/common/v1"
	poolsv1 "sluice.dev/api/pools/v1"
)

// statusOf returns the status of r. first is the object of its pool that counts; targets are this process's.
func statusOf(r, first *SoftResource, targets []sized, decisions watch.Snapshot) softStatus {
	at := r.place()
	answer := decisions.Sizes[at.pool]
	next := softStatus{
		Pool: at.pool.String(), InForce: inForce(answer, targets), ObservedGeneration: r.Generation,
		Conditions: slices.Clone(r.Status.Conditions),
	}
	if answer != nil {
		next.Target = answer.Target
		next.State = strings.TrimPrefix(answer.GetState().String(), "STATE_")
		next.Action = strings.TrimPrefix(answer.GetAction().String(), "ACTION_")
		codes := make([]string, len(answer.GetReasons()))
		for i, reason := range answer.GetReasons() {
			codes[i] = reason.GetCode()
		}
		next.Reason = strings.Join(codes, ",")
	}
	for _, condition := range []metav1.Condition{readyOf(r, first, targets, next, decisions), appliedOf(targets, next)} {
		condition.ObservedGeneration = r.Generation
		apimeta.SetStatusCondition(&next.Conditions, condition)
	}
	return next
}

// readyOf is True while the recommender has a decision, and the spec counts.
func readyOf(r, first *SoftResource, targets []sized, next softStatus, decisions watch.Snapshot) metav1.Condition {
	low, high := r.Spec.Bounds.Min, r.Spec.Bounds.Max
	outside := slices.ContainsFunc(targets, func(t sized) bool {
		return int64(t.Rules.Min) < low || high > 0 && int64(t.Rules.Max) > high
	})
	switch {
	case first.UID != r.UID:
		return condition("Ready", metav1.ConditionFalse, "Duplicate", first.Name+" is older and has the same pool: its spec counts")
	case outside:
		return condition("Ready", metav1.ConditionFalse, "BoundsOutside",
			fmt.Sprintf("bounds have no size in common with the actuator's min %d to max %d: nothing is written", targets[0].Rules.Min, targets[0].Rules.Max))
	case !decisions.Reachable():
		return condition("Ready", metav1.ConditionUnknown, "RecommenderLost", "the actuator does not reach the recommender: its last decision is shown")
	case next.State == "":
		return condition("Ready", metav1.ConditionFalse, "NoDecision", "the recommender does not know the pool")
	}
	return condition("Ready", metav1.ConditionTrue, next.State, "the recommender has a decision")
}

// appliedOf is True while the target size is in force at every instance.
func appliedOf(targets []sized, next softStatus) metav1.Condition {
	optedIn := slices.ContainsFunc(targets, func(t sized) bool { return t.Rules.Apply })
	switch {
	case next.Target == nil || next.InForce == "":
		return condition("Applied", metav1.ConditionUnknown, "NotKnown", "the target size or the size in force is not known")
	case next.InForce == pool.Of(*next.Target).String():
		return condition("Applied", metav1.ConditionTrue, "InForce", "the target size is in force")
	case next.Action != strings.TrimPrefix(commonv1.Action_ACTION_APPLY.String(), "ACTION_"):
		return condition("Applied", metav1.ConditionFalse, "Held", "the recommender's action is "+next.Action)
	case !optedIn:
		return condition("Applied", metav1.ConditionFalse, "NotOptedIn", "the annotation sluice.dev/apply or spec.apply is not true")
	}
	return condition("Applied", metav1.ConditionFalse, "Pending", "the actuator has yet to write the target size at some instance")
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// inForce returns the size at all instances, or the smallest and the largest as "8..12"; "" where none is known.
func inForce(answer *poolsv1.PoolSize, targets []sized) string {
	var sizes []pool.Size
	for _, size := range answer.GetSizes() {
		sizes = append(sizes, pool.Size{Limit: size.GetSize(), Unbounded: size.GetUnbounded()})
	}
	if sizes == nil {
		for _, t := range targets {
			sizes = append(sizes, t.size)
		}
	}
	sizes = slices.DeleteFunc(sizes, func(s pool.Size) bool { return s == pool.Size{} })
	if len(sizes) == 0 {
		return ""
	}
	least := func(s pool.Size) uint32 {
		if s.Unbounded {
			return math.MaxUint32
		}
		return s.Limit
	}
	order := func(a, b pool.Size) int { return cmp.Compare(least(a), least(b)) }
	low, high := slices.MinFunc(sizes, order), slices.MaxFunc(sizes, order)
	if low == high {
		return low.String()
	}
	return low.String() + ".." + high.String()
}
