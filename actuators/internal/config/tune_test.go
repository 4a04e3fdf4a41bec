package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func tuneFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parameters.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParametersOfEveryKind(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "app.conf")
	if err := os.WriteFile(conf, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadTune(tuneFile(t, `
target: shop
parameters:
  - {name: web.threads, tomcat: {url: "http://127.0.0.1:8778/jolokia/"}}
  - {name: cache.entries, jmx: {url: "http://127.0.0.1:8778/jolokia/", mbean: "app:type=Cache", attribute: Entries}}
  - {name: cache.policy, http: {read: {url: "http://127.0.0.1:1/p"}, write: {url: "http://127.0.0.1:1/p"}}}
  - {name: db.jit, values: {"true": "on", "false": "off"}, reload: db, file: {path: "${CONF}", pattern: "jit = (\\w+)"}}
  - {name: db.memory, unit: MB, reload: db, file: {path: "${CONF}", pattern: "mem = (\\w+)"}}
reloads:
  - {name: db, command: [pg_ctl, restart], timeout: 20s}
`), func(name string) (string, bool) { return conf, name == "CONF" })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Parameters) != 5 || c.Recommender != "127.0.0.1:50051" || c.Reloads[0].Timeout.Seconds() != 20 {
		t.Error(c)
	}
	jit, memory := c.Parameters[3], c.Parameters[4]
	if jit.Word("true") != "on" || jit.Value("off") != "false" || memory.Word("64") != "64MB" || memory.Value("64MB") != "64" || memory.Value("1.50MB") != "1.5" {
		t.Error(jit.Word("true"), jit.Value("off"), memory.Word("64"), memory.Value("64MB"), memory.Value("1.50MB"))
	}
}

func TestParametersOfTheDemo(t *testing.T) {
	elsewhere := map[string]string{"SLUICE_DEMO": "http://127.0.0.1:9", "SLUICE_RECOMMENDER": "127.0.0.1:8"}
	c, err := LoadTune("../../../deploy/local/tuning/parameters.yaml", func(name string) (string, bool) { v, ok := elsewhere[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Parameters) != 2 || c.Recommender != "127.0.0.1:8" || c.Parameters[0].Kind != "http" {
		t.Error(c)
	}
}

func TestEveryFaultOfParametersIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "the file is empty",
		"target: shop":                          "parameters: none: want one or more",
		"target: shop\ntargets: []":             "unknown keys: targets",
		"settle: 30\nparameters: []":            "30: want a duration",
		"target: shop\nparameters: [{name: a}]": "parameters[0]: 0 kinds: want one of file, handler",
		"target: shop\nparameters: [{name: a, file: {path: /nowhere}}]":                                                      `parameters[0].file.path: "/nowhere": want an existing file`,
		"target: shop\nparameters: [{name: a, files: {}}]":                                                                   "parameters[0]: unknown key: files",
		"target: shop\nparameters: [{name: a, reload: b, file: {path: /etc/hostname}}]":                                      `parameters[0].reload: "b": want the name of one of reloads`,
		"target: shop\nparameters: [{name: a, file: {path: /etc/hostname}}, {name: a, file: {path: /etc/hostname}}]":         `parameters[1].name: "a": want a name of its own`,
		"target: shop\nparameters: [{name: a, values: {\"1\": x, \"2\": x}, file: {path: /etc/hostname}}]":                   `parameters[0].values: "x" stands for two values`,
		"target: shop\nparameters: [{name: a, file: {path: /etc/hostname}}]\nreloads: [{name: r}]":                           "reloads[0].command: none",
		"target: shop\nparameters: [{name: a, jmx: {url: \"http://127.0.0.1:1/\", mbean: nothing, attribute: x}}]":           "parameters[0].jmx.mbean",
		"target: shop\nparameters: [{name: a, http: {read: {url: \"http://h/\"}, write: {url: \"http://h/\", body: none}}}]": "want {{.Value}} or {{.JSON}}",
	} {
		_, err := LoadTune(tuneFile(t, text), func(string) (string, bool) { return "", false })
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "parameters.yaml: ") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
