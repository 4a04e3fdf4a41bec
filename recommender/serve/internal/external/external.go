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

	"sluice.dev/serve/internal/advice"
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

// Handler answers from the journal at the time of the request. Services have no namespace: all namespaces see the same. A
// selector is service=NAME. Without one, or for an unknown service, the list is empty; an autoscaler regards that as an error
// and changes nothing.
func Handler(tables func() *table.Tables) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix, func(writer http.ResponseWriter, _ *http.Request) {
		list := resourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: group}
		for _, name := range []string{advice.Replicas, advice.Cores} {
			list.Resources = append(list.Resources, resource{Name: name, Namespaced: true, Kind: "ExternalMetricValueList", Verbs: []string{"get"}})
		}
		writeJSON(writer, list)
	})
	mux.HandleFunc("GET "+prefix+"/namespaces/{namespace}/{metric}", func(writer http.ResponseWriter, request *http.Request) {
		name, now := request.PathValue("metric"), time.Now()
		list := valueList{Kind: "ExternalMetricValueList", APIVersion: group, Items: []value{}}
		if name != advice.Replicas && name != advice.Cores {
			http.Error(writer, "no such metric; legal: "+advice.Replicas+" and "+advice.Cores, http.StatusNotFound)
			return
		}
		service, ok := serviceOf(request.URL.Query().Get("labelSelector"))
		if !ok {
			http.Error(writer, "the selector is not legal; legal: service=NAME", http.StatusBadRequest)
			return
		}
		if recommended := advice.ForService(tables(), service, now); recommended != nil {
			item := value{MetricName: name, MetricLabels: map[string]string{"service": service}, Timestamp: now.UTC()}
			switch {
			case name == advice.Replicas && recommended.AdvisedReplicas != nil:
				item.Value = strconv.FormatUint(uint64(recommended.GetAdvisedReplicas()), 10)
			case name == advice.Cores && recommended.AdvisedCpuLimitCores != nil:
				item.Value = strconv.FormatInt(int64(math.Round(1000*recommended.GetAdvisedCpuLimitCores())), 10) + "m"
			}
			if item.Value != "" {
				list.Items = append(list.Items, item)
			}
		}
		writeJSON(writer, list)
	})
	return mux
}

// serviceOf reads service=NAME, or service==NAME.
func serviceOf(selector string) (service string, ok bool) {
	label, rest, separated := strings.Cut(selector, "=")
	service = strings.TrimPrefix(rest, "=")
	return service, separated && label == "service" && service != "" && !strings.ContainsAny(service, ",=! ()")
}

func writeJSON(writer http.ResponseWriter, content any) {
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(content) // the client may be gone
}
