package kube

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sluice.dev/actuators/internal/discover"
)

const (
	serviceAttribute  = "service.name"
	instanceAttribute = "service.instance.id"
	// conventional is the prefix of annotations that stand for resource attributes.
	conventional = "resource.opentelemetry.io/"
)

// names returns the service and the instance of a pod as its spans have them. The environment of its containers has the
// first say: the SDK reads it, and OpenTelemetry's operator writes what it chose there. Then follows the operator's order
// for service.name (https://opentelemetry.io/docs/specs/semconv/non-normative/k8s-attributes/), with its label. The data
// plane takes the pod's name for an instance without service.instance.id.
func names(u *unstructured.Unstructured, containers []wireContainer) (service, instance string) {
	set, annotations := attributes(u, containers), u.GetAnnotations()
	service = cmp.Or(set[serviceAttribute], annotations[conventional+serviceAttribute],
		u.GetLabels()["app.kubernetes.io/name"], workloadOf(u).Name)
	return service, cmp.Or(set[instanceAttribute], annotations[conventional+instanceAttribute], u.GetName())
}

// workloadOf returns the Deployment of the pod's ReplicaSet, else the pod's controller, else the pod itself.
func workloadOf(u *unstructured.Unstructured) discover.Workload {
	owner := metav1.GetControllerOfNoCopy(u)
	if owner == nil {
		return discover.Workload{APIVersion: "v1", Kind: "Pod", Name: u.GetName(), UID: string(u.GetUID())}
	}
	// The name of a Deployment's ReplicaSet ends with the hash that its pods have as a label.
	hash := u.GetLabels()["pod-template-hash"]
	if name, hashed := strings.CutSuffix(owner.Name, "-"+hash); owner.Kind == "ReplicaSet" && hash != "" && hashed {
		return discover.Workload{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	}
	return discover.Workload{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: string(owner.UID)}
}

var variable = regexp.MustCompile(`\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)`)

// attributes returns the resource attributes in the environment of the first container that has some. It leaves out an
// attribute whose value is not in the pod's object: a Secret's, a ConfigMap's.
func attributes(u *unstructured.Unstructured, containers []wireContainer) map[string]string {
	for _, container := range containers {
		set := map[string]string{}
		variables := map[string]string{}
		for _, v := range container.Env {
			value := cmp.Or(v.Value, field(u, v.ValueFrom.FieldRef.FieldPath))
			variables[v.Name] = variable.ReplaceAllStringFunc(value, func(whole string) string {
				return cmp.Or(variables[whole[2:len(whole)-1]], whole)
			})
		}
		for pair := range strings.SplitSeq(variables["OTEL_RESOURCE_ATTRIBUTES"], ",") {
			key, text, _ := strings.Cut(pair, "=")
			if value, err := url.PathUnescape(strings.TrimSpace(text)); err == nil {
				set[strings.TrimSpace(key)] = value
			}
		}
		set[serviceAttribute] = cmp.Or(variables["OTEL_SERVICE_NAME"], set[serviceAttribute])
		maps.DeleteFunc(set, func(_, value string) bool { return value == "" || variable.MatchString(value) })
		if set[serviceAttribute] != "" || set[instanceAttribute] != "" {
			return set
		}
	}
	return nil
}

// field returns the value of a field of the pod as the downward API names it; "" for one that is not supported here.
func field(u *unstructured.Unstructured, path string) string {
	switch path {
	case "metadata.name":
		return u.GetName()
	case "metadata.namespace":
		return u.GetNamespace()
	case "metadata.uid":
		return string(u.GetUID())
	}
	if key, is := strings.CutPrefix(path, "metadata.labels['"); is {
		return u.GetLabels()[strings.TrimSuffix(key, "']")]
	}
	if key, is := strings.CutPrefix(path, "metadata.annotations['"); is {
		return u.GetAnnotations()[strings.TrimSuffix(key, "']")]
	}
	return ""
}
