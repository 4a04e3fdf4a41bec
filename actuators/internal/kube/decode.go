package kube

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// The fields of the API that are read, by their names there; an absent field is zero.

type resources struct {
	Requests map[string]resource.Quantity `json:"requests"`
	Limits   map[string]resource.Quantity `json:"limits"`
}

type wireContainer struct {
	Name      string         `json:"name"`
	Resources resources      `json:"resources"`
	Env       []wireVariable `json:"env"`
}

type wireVariable struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	ValueFrom struct {
		FieldRef struct {
			FieldPath string `json:"fieldPath"`
		} `json:"fieldRef"`
	} `json:"valueFrom"`
}

type wirePod struct {
	Spec struct {
		Containers []wireContainer `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase             string          `json:"phase"`
		PodIP             string          `json:"podIP"`
		Conditions        []wireCondition `json:"conditions"`
		ContainerStatuses []wireContainer `json:"containerStatuses"`
	} `json:"status"`
}

type wireCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

type wireWorkload struct {
	Spec struct {
		Replicas       *uint32               `json:"replicas"`
		Selector       *metav1.LabelSelector `json:"selector"`
		Template       wirePod               `json:"template"`
		UpdateStrategy struct {
			Type string `json:"type"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64  `json:"observedGeneration"`
		UpdatedReplicas    uint32 `json:"updatedReplicas"`
	} `json:"status"`
}

type wireAutoscaler struct {
	Spec struct {
		ScaleTargetRef wireRef `json:"scaleTargetRef"`
	} `json:"spec"`
	Status struct {
		DesiredReplicas uint32          `json:"desiredReplicas"`
		Conditions      []wireCondition `json:"conditions"`
	} `json:"status"`
}

type wireRef struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type wireVertical struct {
	Spec struct {
		TargetRef    wireRef `json:"targetRef"`
		UpdatePolicy struct {
			UpdateMode string `json:"updateMode"`
		} `json:"updatePolicy"`
	} `json:"spec"`
	Status struct {
		Recommendation struct {
			ContainerRecommendations []struct {
				ContainerName string                       `json:"containerName"`
				Target        map[string]resource.Quantity `json:"target"`
				UpperBound    map[string]resource.Quantity `json:"upperBound"`
			} `json:"containerRecommendations"`
		} `json:"recommendation"`
	} `json:"status"`
}

type wireSlice struct {
	AddressType string `json:"addressType"`
	Ports       []struct {
		Name string `json:"name"`
		Port int64  `json:"port"`
	} `json:"ports"`
	Endpoints []struct {
		Addresses  []string `json:"addresses"`
		Conditions struct {
			Ready       *bool `json:"ready"`
			Serving     *bool `json:"serving"`
			Terminating *bool `json:"terminating"`
		} `json:"conditions"`
		TargetRef struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"targetRef"`
		NodeName string `json:"nodeName"`
		Zone     string `json:"zone"`
	} `json:"endpoints"`
}

// decoded converts u to one of the wire types.
func decoded[T any](u *unstructured.Unstructured) (wire T, err error) {
	if err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &wire); err != nil {
		err = fmt.Errorf("decode %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return wire, err
}

// meta keeps the metadata of an object; of its annotations only Sluice's own.
func meta(u *unstructured.Unstructured) metav1.ObjectMeta {
	own := u.GetAnnotations()
	maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, prefix) })
	return metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(),
		Labels: u.GetLabels(), Annotations: own, DeletionTimestamp: u.GetDeletionTimestamp(),
		Generation: u.GetGeneration(), CreationTimestamp: u.GetCreationTimestamp(),
	}
}

func toPod(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[wirePod](u)
	if err != nil {
		return nil, err
	}
	service, instance := names(u, wire.Spec.Containers)
	pod := &Pod{
		ObjectMeta: meta(u), IP: wire.Status.PodIP, Containers: containers(wire.Spec.Containers),
		Service: service, Instance: instance, Workload: workloadOf(u),
	}
	for i, c := range pod.Containers {
		for _, status := range wire.Status.ContainerStatuses {
			if status.Name == c.Name {
				pod.Containers[i].InForce = cpu(status.Resources.Limits)
			}
		}
	}
	pod.Running = wire.Status.Phase == "Running" && pod.IP != "" && pod.DeletionTimestamp == nil
	pod.Ready = pod.Running && holds(wire.Status.Conditions, "Ready")
	return pod, nil
}

func toWorkload(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[wireWorkload](u)
	if err != nil {
		return nil, err
	}
	selector, err := metav1.LabelSelectorAsSelector(wire.Spec.Selector)
	if err != nil {
		return nil, err
	}
	desired := uint32(1)
	if wire.Spec.Replicas != nil {
		desired = *wire.Spec.Replicas
	}
	changing := wire.Status.ObservedGeneration < u.GetGeneration() || wire.Status.UpdatedReplicas < desired
	return &Workload{
		ObjectMeta: meta(u), Desired: desired, Selector: selector, Containers: containers(wire.Spec.Template.Spec.Containers),
		Rolling: changing && wire.Spec.UpdateStrategy.Type != "OnDelete",
	}, nil
}

func toAutoscaler(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[wireAutoscaler](u)
	return &Autoscaler{
		ObjectMeta: meta(u), Of: Ref(wire.Spec.ScaleTargetRef), Desired: wire.Status.DesiredReplicas,
		Active: holds(wire.Status.Conditions, "ScalingActive") && holds(wire.Status.Conditions, "AbleToScale"),
	}, err
}

func toVertical(u *unstructured.Unstructured) (any, error) {
	wire, err := decoded[wireVertical](u)
	vertical := &Vertical{ObjectMeta: meta(u), Of: Ref(wire.Spec.TargetRef), Advice: map[string]Advice{}}
	switch wire.Spec.UpdatePolicy.UpdateMode {
	case "", "Auto", "Recreate", "InPlaceOrRecreate", "InPlace":
		vertical.Acts = true
	}
	for _, container := range wire.Status.Recommendation.ContainerRecommendations {
		vertical.Advice[container.ContainerName] = Advice{Target: cpu(container.Target), Upper: cpu(container.UpperBound)}
	}
	return vertical, err
}

func toNamespace(u *unstructured.Unstructured) (any, error) { return &Namespace{meta(u)}, nil }

func containers(wire []wireContainer) []Container {
	all := make([]Container, len(wire))
	for i, c := range wire {
		all[i] = Container{Name: c.Name, Request: cpu(c.Resources.Requests), Limit: cpu(c.Resources.Limits)}
	}
	return all
}

// cpu is in cores; 0 for none.
func cpu(list map[string]resource.Quantity) float64 {
	quantity, ok := list["cpu"]
	if !ok {
		return 0
	}
	return quantity.AsApproximateFloat64()
}

func holds(conditions []wireCondition, kind string) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status == "True"
		}
	}
	return false
}

func parseSelector(text string) (labels.Selector, error) { return labels.Parse(text) }
