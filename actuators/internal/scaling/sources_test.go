package scaling

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/tests/files"
)

// The shape of a Kubernetes deployment, with the fields that matter here.
const deployment = `{
	"metadata": {"generation": 7},
	"spec": {"replicas": 3, "template": {"spec": {"containers": [
		{"image": "shop/cart:1.4.2", "resources": {"limits": {"cpu": "1500m"}}}]}}},
	"status": {"conditions": [{"lastUpdateTime": "2026-03-01T12:00:00Z"}]}}`

var pointers = Pointers{
	CPULimitCores: "/spec/template/spec/containers/0/resources/limits/cpu",
	Replicas:      "/spec/replicas",
	Version:       "/spec/template/spec/containers/0/image",
	Since:         "/status/conditions/0/lastUpdateTime",
}

func TestPointersReadADeployment(t *testing.T) {
	r, err := pointers.read([]byte(deployment))
	if err != nil || r.CPULimitCores != 1.5 || *r.Replicas != 3 || r.Version != "shop/cart:1.4.2" || !r.Since.Equal(noon) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Pointers{Version: "/metadata/generation"}.read([]byte(deployment))
	if err != nil || r.Version != "7" || r.CPULimitCores != 0 || r.Replicas != nil || !r.Since.IsZero() {
		t.Errorf("%+v, %v: want the version only", r, err)
	}
}

func TestPointersRefuse(t *testing.T) {
	tests := []struct {
		name     string
		pointers Pointers
		document string
		want     string
	}{
		{"no JSON", Pointers{Version: "/v"}, "<html>", "not JSON"},
		{"nothing there", Pointers{Version: "/v"}, `{"w": 1}`, `nothing at "/v"`},
		{"no limit", Pointers{CPULimitCores: "/c"}, `{"c": 0}`, `at "/c": 0: want cores`},
		{"negative limit", Pointers{CPULimitCores: "/c"}, `{"c": "-100m"}`, "want cores"},
		{"not a number", Pointers{CPULimitCores: "/c"}, `{"c": "NaN"}`, "want cores"},
		{"memory", Pointers{CPULimitCores: "/c"}, `{"c": "512Mi"}`, "want cores"},
		{"null", Pointers{CPULimitCores: "/c"}, `{"c": null}`, "want cores"},
		{"half a replica", Pointers{Replicas: "/r"}, `{"r": 1.5}`, "want a whole number"},
		{"fewer than none", Pointers{Replicas: "/r"}, `{"r": -1}`, "want a whole number"},
		{"empty version", Pointers{Version: "/v"}, `{"v": ""}`, "want text"},
		{"version is a block", Pointers{Version: "/v"}, `{"v": {}}`, "want text"},
		{"since is a word", Pointers{Version: "/v", Since: "/s"}, `{"v": "1", "s": "noon"}`, "want a time"},
		{"every fault", Pointers{CPULimitCores: "/c", Replicas: "/r"}, `{"c": true, "r": true}`, "want cores, above 0 to 10000, such as 1.5 or \"1500m\"\nat \"/r\": true: want a whole"},
		{"too long", Pointers{Version: "/v"}, strings.Repeat(" ", maxBytes+1), "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.pointers.read([]byte(tt.document)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMomentInSeconds(t *testing.T) {
	r, err := Pointers{Version: "/v", Since: "/s"}.read([]byte(`{"v": "1", "s": 1772366400.25}`)) // noon and a quarter second
	if err != nil || !r.Since.Equal(noon.Add(250*time.Millisecond)) {
		t.Errorf("since %s, %v", r.Since, err)
	}
}

func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			http.Error(w, "who are you", http.StatusForbidden)
			return
		}
		w.Write([]byte(deployment))
	}))
	defer server.Close()
	config := DefaultHTTP()
	config.URL, config.Read, config.Headers = server.URL, pointers, map[string]string{"Authorization": "Bearer t0ken"}
	open := func() HTTP {
		h, err := NewHTTP(config)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	if r, err := h.Read(t.Context()); err != nil || r.CPULimitCores != 1.5 {
		t.Errorf("%+v, %v", r, err)
	}
	config.Headers = nil
	h = open()
	if _, err := h.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "GET "+server.URL+": status 403, want 200") {
		t.Errorf("error %v, want one that names the URL and the status", err)
	}
	config.URL = strings.Replace(server.URL, "://", "://operator:pa55word@", 1) + "/?token=t0ken"
	h = open()
	_, refused := h.Read(t.Context())
	server.Close()
	_, gone := h.Read(t.Context())
	for _, err := range []error{refused, gone} {
		if err == nil {
			t.Fatal("read from a server that refuses, or is gone")
		}
		for _, secret := range []string{"operator", "pa55word", "t0ken"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q shows %s", err, secret)
			}
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cart.json")
	f := File{FileConfig{Path: path, Read: Pointers{CPULimitCores: "/cores"}}}
	if _, err := f.Read(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the file", err)
	}
	files.Write(t, path, `{"cores": 0.5}`)
	if r, err := f.Read(t.Context()); err != nil || r.CPULimitCores != 0.5 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCgroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.max")
	c := Cgroup{CgroupConfig{Path: path}, 8}
	for text, want := range map[string]float64{"150000 100000\n": 1.5, "max 100000\n": 8, "5000 50000": 0.1} {
		files.Write(t, path, text)
		if r, err := c.Read(t.Context()); err != nil || r.CPULimitCores != want {
			t.Errorf("%q: %+v, %v, want %g cores", text, r, err, want)
		}
	}
	for _, text := range []string{"", "max", "0 100000", "100000 0", "many 100000", "1 2 3"} {
		files.Write(t, path, text)
		if r, err := c.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "want QUOTA PERIOD") {
			t.Errorf("%q: %+v, %v, want an error", text, r, err)
		}
	}
}

func TestCgroupOfVersion1(t *testing.T) {
	folder := t.TempDir()
	quota := filepath.Join(folder, "cpu.cfs_quota_us")
	c := Cgroup{CgroupConfig{Path: quota}, 8}
	files.Write(t, quota, "30000\n")
	if r, err := c.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "cpu.cfs_period_us") {
		t.Errorf("%+v, %v, want an error that names the other file", r, err)
	}
	files.Write(t, filepath.Join(folder, "cpu.cfs_period_us"), "100000\n")
	for text, want := range map[string]float64{"30000\n": 0.3, "-1\n": 8} {
		files.Write(t, quota, text)
		if r, err := c.Read(t.Context()); err != nil || r.CPULimitCores != want {
			t.Errorf("%q: %+v, %v, want %g cores", text, r, err, want)
		}
	}
	files.Write(t, quota, "0\n")
	if r, err := c.Read(t.Context()); err == nil {
		t.Errorf("%+v, want an error", r)
	}
}
