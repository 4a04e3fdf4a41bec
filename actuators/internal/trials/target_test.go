package trials

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/actuators/internal/config"
)

// opened is a target of two parameters in one file, reloaded by a command that refuses work of 9 and counts itself.
func opened(t *testing.T) (target *Target, file, count string) {
	t.Helper()
	folder := t.TempDir()
	file, count = filepath.Join(folder, "app.conf"), filepath.Join(folder, "count")
	text := strings.NewReplacer("FILE", file, "COUNT", count).Replace(`
target: shop
settle: 200ms
parameters:
  - {name: work, unit: MB, reload: app, file: {path: FILE, pattern: '^work = (\S+)$'}}
  - {name: jit, values: {"true": "on", "false": "off"}, reload: app, file: {path: FILE, pattern: '^jit = (\S+)$'}}
reloads: [{name: app, command: [sh, -c, "echo . >> COUNT; ! grep -q 'work = 9MB' FILE"]}]
`)
	path := filepath.Join(folder, "parameters.yaml")
	for name, content := range map[string]string{path: text, file: "work = 4MB\njit = on\n"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.LoadTune(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if target, err = Open(c); err != nil {
		t.Fatal(err)
	}
	return target, file, count
}

func TestADifferingValueIsWrittenReloadedOnceAndReadBack(t *testing.T) {
	target, file, count := opened(t)
	for range 2 { // the second finds nothing to do
		if err := target.Set(t.Context(), Values{"work": "16", "jit": "false"}); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(file)
	reloads, _ := os.ReadFile(count)
	if string(text) != "work = 16MB\njit = off\n" || string(reloads) != ".\n" {
		t.Errorf("%s%s", text, reloads)
	}
	if now, err := target.Read(t.Context()); err != nil || now["work"] != "16" || now["jit"] != "false" {
		t.Error(now, err)
	}
}

func TestARefusedOrMissingValueIsAnError(t *testing.T) {
	target, _, _ := opened(t)
	if err := target.Set(t.Context(), Values{"work": "9"}); err == nil || !strings.Contains(err.Error(), "reload app") {
		t.Error(err)
	}
	if err := target.settled(t.Context(), Values{"work": "8"}); err == nil || !strings.Contains(err.Error(), "work is 9, want 8") {
		t.Error(err)
	}
}

func TestNumbersAreTheSameByValue(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"1", "1.0"}: true, {"0.3", "0.30000001"}: true, {"1", "2"}: false, {"inf", "inf"}: true, {"on", "off"}: false, {"0", "0.0"}: true,
		{"a", "1"}: false, {"-3", "3"}: false,
	} {
		if same(pair[0], pair[1]) != want {
			t.Error(pair)
		}
	}
}
