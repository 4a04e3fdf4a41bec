// Package external serves the API group external.metrics.k8s.io/v1beta1, by which a HorizontalPodAutoscaler reads the advice
// on hardware. The API server of Kubernetes calls it, for an APIService that points here.
package external

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice.dev/serve/internal/advised"
	"sluice.dev/serve/internal/table"
)

const (
	group  = "external.metrics.k8s.io/v1beta1"
	prefix = "/apis/" + group
)

// The types of k8s.io/metrics/pkg/apis/external_metrics/v1beta1.
type (
	valueList struct {
		Kind       string   `json:"kind"`
		APIVersion string   `json:"apiVersion"`
		Metadata   struct{} `json:"metadata"`
		Items      []value  `json:"items"`
	}
	value struct {
		MetricName   string            `json:"metricName"`
		MetricLabels map[string]string `json:"metricLabels"`
		Timestamp    time.Time         `json:"timestamp"`
		Value        string            `json:"value"`
	}
	resourceList struct {
		Kind         string     `json:"kind"`
		APIVersion   string     `json:"apiVersion"`
		GroupVersion string     `json:"groupVersion"`
		Resources    []resource `json:"resources"`
	}
	resource struct {
		Name         string   `json:"name"`
		SingularName string   `json:"singularName"`
		Namespaced   bool     `json:"namespaced"`
		Kind         string   `json:"kind"`
		Verbs        []string `json:"verbs"`
	}
)

// Handler answers from the log at the time of the request. Services have no namespace: all namespaces see the same. A
// selector is service=NAME. Without one, or for an unknown service, the list is empty; an autoscaler regards that as an error
// and changes nothing.
func Handler(log func() *table.Tables) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix, func(to http.ResponseWriter, _ *http.Request) {
		list := resourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: group}
		for _, name := range []string{advised.Replicas, advised.Cores} {
			list.Resources = append(list.Resources, resource{Name: name, Namespaced: true, Kind: "ExternalMetricValueList", Verbs: []string{"get"}})
		}
		writeJSON(to, list)
	})
	mux.HandleFunc("GET "+prefix+"/namespaces/{namespace}/{metric}", func(to http.ResponseWriter, request *http.Request) {
		name, now := request.PathValue("metric"), time.Now()
		list := valueList{Kind: "ExternalMetricValueList", APIVersion: group, Items: []value{}}
		if name != advised.Replicas && name != advised.Cores {
			http.Error(to, "no such metric; legal: "+advised.Replicas+" and "+advised.Cores, http.StatusNotFound)
			return
		}
		service, ok := serviceOf(request.URL.Query().Get("labelSelector"))
		if !ok {
			http.Error(to, "the selector is not legal; legal: service=NAME", http.StatusBadRequest)
			return
		}
		if advice := advised.ForService(log(), service, now); advice != nil {
			item := value{MetricName: name, MetricLabels: map[string]string{"service": service}, Timestamp: now.UTC()}
			switch {
			case name == advised.Replicas && advice.AdvisedReplicas != nil:
				item.Value = strconv.FormatUint(uint64(advice.GetAdvisedReplicas()), 10)
			case name == advised.Cores && advice.AdvisedCpuLimitCores != nil:
				item.Value = strconv.FormatInt(int64(math.Round(1000*advice.GetAdvisedCpuLimitCores())), 10) + "m"
			}
			if item.Value != "" {
				list.Items = append(list.Items, item)
			}
		}
		writeJSON(to, list)
	})
	return mux
}

// serviceOf reads service=NAME, or service==NAME.
func serviceOf(selector string) (service string, ok bool) {
	label, rest, separated := strings.Cut(selector, "=")
	service = strings.TrimPrefix(rest, "=")
	return service, separated && label == "service" && service != "" && !strings.ContainsAny(service, ",=! ()")
}

func writeJSON(to http.ResponseWriter, content any) {
	to.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(to).Encode(content) // the client may be gone
}
