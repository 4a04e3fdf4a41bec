package realizetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
)

// Bean is one MBean in memory.
type Bean struct {
	// Values are the attributes.
	Values map[string]int64
	// Set replaces the effect of a write; its error is the one in Jolokia's response.
	Set func(attribute string, value int64) error
	// Call is the effect of an operation.
	Call func(operation string)
}

// Jolokia is an agent in memory. Like the real one it responds with HTTP 200 to a refusal; the body has the status.
type Jolokia struct {
	URL string

	mu       sync.Mutex
	beans    map[string]*Bean
	requests []string
	searches int
	broken   bool
	stalled  bool
	done     chan struct{}
}

// StartJolokia serves the beans until the test ends.
func StartJolokia(t *testing.T, beans map[string]*Bean) *Jolokia {
	j := &Jolokia{beans: beans, done: make(chan struct{})}
	server := httptest.NewServer(j)
	j.URL = server.URL + "/jolokia/"
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(j.done) })
	return j
}

// With changes or reads beans while no request is served.
func (j *Jolokia) With(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// Break makes every request fail, with HTTP 200.
func (j *Jolokia) Break() { j.With(func() { j.broken = true }) }

// Stall makes every request wait without a response.
func (j *Jolokia) Stall() { j.With(func() { j.stalled = true }) }

// Requests returns the writes and operations so far, in order: "maxThreads=12", "softEvictConnections".
func (j *Jolokia) Requests() (requests []string) {
	j.With(func() { requests = append(requests, j.requests...) })
	return requests
}

// Searches returns how many searches there were so far.
func (j *Jolokia) Searches() (searches int) {
	j.With(func() { searches = j.searches })
	return searches
}

// ServeHTTP handles one POST.
func (j *Jolokia) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Type, MBean, Operation string
		Attribute              any
		Value                  int64
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stalled {
		j.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-j.done:
		}
		j.mu.Lock()
		return
	}
	answer := func(value any) { json.NewEncoder(w).Encode(map[string]any{"status": 200, "value": value}) }
	refuse := func(status int, text string) {
		json.NewEncoder(w).Encode(map[string]any{"status": status, "error": text})
	}
	bean := j.beans[request.MBean]
	switch {
	case j.broken:
		refuse(500, "java.lang.IllegalStateException : out of order")
	case request.Type == "search":
		j.searches++
		names := []string{}
		for name := range j.beans {
			if ok, _ := path.Match(request.MBean, name); ok {
				names = append(names, name)
			}
		}
		answer(names)
	case bean == nil:
		refuse(404, "javax.management.InstanceNotFoundException : "+request.MBean)
	case request.Type == "read":
		values := map[string]int64{}
		for _, attribute := range request.Attribute.([]any) {
			value, ok := bean.Values[attribute.(string)]
			if !ok {
				refuse(404, fmt.Sprint("javax.management.AttributeNotFoundException : ", attribute))
				return
			}
			values[attribute.(string)] = value
		}
		answer(values)
	case request.Type == "write":
		attribute := request.Attribute.(string)
		j.requests = append(j.requests, fmt.Sprint(attribute, "=", request.Value))
		if err := bean.Set(attribute, request.Value); err != nil {
			refuse(400, err.Error())
			return
		}
		answer(nil)
	case request.Type == "exec":
		j.requests = append(j.requests, request.Operation)
		bean.Call(request.Operation)
		answer(nil)
	default:
		refuse(400, "java.lang.IllegalArgumentException : "+request.Type)
	}
}
