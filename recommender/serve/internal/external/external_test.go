package external

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSelectors(t *testing.T) {
	for selector, want := range map[string]string{
		"service=cart": "cart", "service==cart": "cart", "": "", "service": "", "service=": "", "app=cart": "",
		"service!=cart": "", "service in (cart)": "", "service=cart,app=x": "",
	} {
		if got, ok := serviceOf(selector); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", selector, got, ok)
		}
	}
}

func TestWhatCannotBeAskedIsTold(t *testing.T) {
	handler := Handler(nil)
	for path, want := range map[string]int{
		prefix:                            http.StatusOK,
		prefix + "/namespaces/shop/other": http.StatusNotFound,
		prefix + "/namespaces/shop/sluice_pool_advised_replicas":                            http.StatusBadRequest,
		prefix + "/namespaces/shop/sluice_pool_advised_replicas?labelSelector=service!%3Dx": http.StatusBadRequest,
	} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != want {
			t.Errorf("%s: %d, want %d: %s", path, answer.Code, want, answer.Body)
		}
		if want == http.StatusOK && !strings.Contains(answer.Body.String(), `"sluice_pool_advised_replicas"`) {
			t.Error(answer.Body)
		}
	}
}
