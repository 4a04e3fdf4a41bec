package kube

import (
	"fmt"
	"regexp"
	"strconv"

	"sluice.dev/actuators/internal/discover"
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
