package kube

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools/pool"
)

// Annotations of pods. A namespace may have apply, too.
const (
	prefix = "sluice.dev/"
	// portAnnotation and pathAnnotation are the port and path of the target in the pod.
	portAnnotation = prefix + "port"
	pathAnnotation = prefix + "path"
	// applyAnnotation opts in or out. A pod's overrides its namespace's, which overrides the file's.
	applyAnnotation = prefix + "apply"
	// instanceAnnotation is the instance's name in spans, where that is not the pod's.
	instanceAnnotation = prefix + "instance"
	// sloAnnotation is the SLO of the pod's service. It overrides the file's.
	sloAnnotation = prefix + "slo"
)

// optIn returns the opt-in of a pod: its own, else its namespace's, else the file's. A value that is neither true nor false
// counts as false, because its author wanted to set something. A suffix, as .NAME, opts in one pool of the pod.
func optIn(pod, namespace map[string]string, suffix string) discover.OptIn {
	text, there := pod[applyAnnotation+suffix]
	if !there {
		text, there = pod[applyAnnotation]
	}
	if !there {
		text, there = namespace[applyAnnotation]
	}
	switch {
	case !there:
		return discover.Unset
	case text == "true":
		return discover.In
	}
	return discover.Out
}

// applyFaults names the opt-in with that suffix when it is neither true nor false.
func applyFaults(annotations map[string]string, suffix string) []error {
	text, there := annotations[applyAnnotation+suffix]
	if !there || text == "true" || text == "false" {
		return nil
	}
	return []error{refused(applyAnnotation+suffix, text, "true or false")}
}

// overlay lays a pod's opt-in and SLO over the file's. An SLO that is not legal is an error, and opts out.
func overlay(endpoint *discover.Endpoint, pod, namespace map[string]string, suffix string) (err error) {
	endpoint.OptIn = optIn(pod, namespace, suffix)
	if endpoint.SLO, err = sloOf(pod, suffix); err != nil {
		endpoint.OptIn = discover.Out
	}
	return err
}

// sloOf returns the SLO of a pool of a pod: that with its suffix, else the pod's; 0 without one.
func sloOf(annotations map[string]string, suffix string) (time.Duration, error) {
	key := sloAnnotation + suffix
	if _, there := annotations[key]; !there {
		key = sloAnnotation
	}
	text, there := annotations[key]
	if !there {
		return 0, nil
	}
	slo, err := pool.ParseSLO(text)
	if err != nil {
		return 0, fmt.Errorf("annotation %s: %w", key, err)
	}
	return slo, nil
}

func refused(annotation, text, want string) error {
	return fmt.Errorf("annotation %s: %q: want %s", annotation, text, want)
}

// path matches paths that stay within the pod's address: the author of an annotation may not be allowed to write the file.
var path = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*/?$`)

// where returns the port and path of a pod's target.
func where(annotations map[string]string, port int64) (string, string, error) {
	text, there := annotations[portAnnotation]
	if !there {
		text = strconv.FormatInt(port, 10)
	}
	if n, err := strconv.ParseUint(text, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("annotation %s: %q: want 1 to 65535", portAnnotation, text)
	}
	at := annotations[pathAnnotation]
	if !path.MatchString(at) {
		return "", "", fmt.Errorf("annotation %s: %q: want a path such as /jolokia/", pathAnnotation, at)
	}
	return text, at, nil
}
