package kube

import "sluice.dev/actuators/internal/scaling"

// Hardware is the replicas, CPU limit and version of a workload, now and soon.
type Hardware struct {
	// Desired is the number of replicas; Ready of them get requests.
	Desired, Ready uint32
	// Cores is the smallest CPU limit of the ready pods, in cores; 0: no pod is ready, or there is no limit.
	Cores float64
	// Falling is a smaller limit that pods are about to get; 0: none.
	Falling float64
	// Version is that of all ready pods; empty while they differ.
	Version string
}

// Next returns the hardware that pools are to be sized for, after `before`. Soft resources grow after the hardware did (Sora
// 4.1), and shrink before it does.
//
//	replicas   desired, at once, where that is fewer; else the ready ones, at most desired
//	           never fewer because a pod is not ready for a moment
//	cores      Falling, at once; else the smallest limit of a ready pod
//
// So 2 -> 6 desired is reported as 3, 4, 5, 6 as pods become ready, and 6 -> 2 as 2 before a pod ends. The autoscaler waits
// for neither: a write that is not done when the pod ends is late.
func Next(before scaling.Reading, now Hardware) scaling.Reading {
	next := before
	next.Replicas = replicas(before.Replicas, now)
	switch {
	case now.Falling > 0 && (now.Cores == 0 || now.Falling < now.Cores):
		next.CPULimitCores = now.Falling
	case now.Cores > 0:
		next.CPULimitCores = now.Cores
	}
	if now.Version != "" {
		next.Version = now.Version
	}
	return next
}

func replicas(before *uint32, now Hardware) *uint32 {
	there := min(now.Ready, now.Desired)
	switch {
	case before != nil && now.Desired > *before:
		there = max(there, *before)
	case before != nil || now.Desired == 0:
		there = now.Desired
	case there == 0: // first reading while no pod is ready: not scaled to nothing
		return nil
	}
	return &there
}

// Observed derives the hardware of a workload from its objects.
func Observed(w *Workload, pods []*Pod, autoscaler *Autoscaler, vertical *Vertical, container string) Hardware {
	now := Hardware{Desired: w.Desired}
	if autoscaler != nil && autoscaler.Active {
		now.Desired = min(now.Desired, autoscaler.Desired) // it changes a moment before the workload does
	}
	fall := func(cores float64) {
		if cores > 0 && (now.Falling == 0 || cores < now.Falling) {
			now.Falling = cores
		}
	}
	versions := map[string]bool{}
	for _, pod := range pods {
		c, there := pod.container(container)
		if !pod.Ready || !there {
			continue
		}
		now.Ready++
		versions[pod.Labels[versionLabel]] = true
		if least := c.least(); least > 0 && (now.Cores == 0 || least < now.Cores) {
			now.Cores = least
		}
		fall(vertical.about(c))
	}
	if len(versions) == 1 {
		for now.Version = range versions {
		}
	}
	if w.Rolling {
		for _, c := range w.Containers {
			if c.Name == container || container == "" {
				fall(c.Limit)
				break
			}
		}
	}
	return now
}

// about returns the smaller limit that a container is about to get. A VPA changes a request above its upper bound, and keeps
// the ratio of limit to request. 0: none.
func (v *Vertical) about(c Container) float64 {
	if v == nil || !v.Acts {
		return 0
	}
	advice, there := v.Advice[c.Name]
	if !there || advice.Target <= 0 || advice.Upper <= 0 || c.Request <= advice.Upper || c.Limit == 0 {
		return 0
	}
	return c.Limit * advice.Target / c.Request
}

// versionLabel is Kubernetes' recommended label for a version.
const versionLabel = "app.kubernetes.io/version"
