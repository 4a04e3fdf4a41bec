package kube

import (
	"fmt"
	"regexp"
	"strconv"

	"sluice.dev/actuators/internal/discover"
)

// Annotations of pods, but apply, which a namespace may have as well.
const (
	prefix = "sluice.dev/"
	// portAnnotation and pathAnnotation are where the pod is asked.
	portAnnotation = prefix + "port"
	pathAnnotation = prefix + "path"
	// applyAnnotation opts in, or, on a pod, out of what its namespace or the file says.
	applyAnnotation = prefix + "apply"
	// instanceAnnotation is the instance's name in spans, where that is not the pod's.
	instanceAnnotation = prefix + "instance"
)

// optIn is whether a pod's targets may be written: as the pod says, else as its namespace does; nothing: as the file does.
// What is neither true nor false is false: who wrote it wanted to say something.
func optIn(pod, namespace map[string]string) discover.OptIn {
	for _, annotations := range []map[string]string{pod, namespace} {
		switch text, there := annotations[applyAnnotation]; {
		case there && text == "true":
			return discover.In
		case there:
			return discover.Out
		}
	}
	return discover.Unsaid
}

// path is one that leads nowhere but to the pod: an annotation is written by who may not write the file.
var path = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*/?$`)

// where is the port and path of a pod.
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
