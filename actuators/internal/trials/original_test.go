package trials

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each session has a file of its own in the folder, whatever its name.
func TestTheFileOfASessionWithAnyName(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{
		"..", "../../etc/passwd", "/etc/passwd", "a\x00b", "a\nb", "\x1b[2J", "$(id)`id`", "'; DROP", "{}", "\u202egnp.exe", "🧵", "%2e%2e", "a%2fb",
		"a/b", strings.Repeat("x", 512), strings.Repeat("x", 511) + "y", strings.Repeat("🧵", 128),
	}
	for _, name := range names {
		if err := originalsFile(folder, name).keep(Values{"p": name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range names {
		if got, err := originalsFile(folder, name).known(); err != nil || got["p"] != name {
			t.Errorf("%q: %q, %v", name, got["p"], err)
		}
	}
	if files, _ := os.ReadDir(folder); len(files) != len(names) {
		t.Errorf("%d files", len(files))
	}
}
