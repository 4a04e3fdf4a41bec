package subsets_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice.dev/actuators/internal/subsets"
	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/subsetstest"
)

// listed is a program's reading of its list of `address weight`.
func listed(text string) (set subsets.Set, err error) {
	var members []subsets.Member
	for line := range strings.Lines(text) {
		var m subsets.Member
		address, weight, _ := strings.Cut(strings.TrimSpace(line), " ")
		if m.Address, err = netip.ParseAddrPort(address); err != nil {
			return nil, err
		}
		if _, err = fmt.Sscan(weight, &m.Weight); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	if members == nil {
		return nil, nil
	}
	return subsets.NewSet(members)
}

// A program that reads the list into `running` when its command runs.
func TestFileContract(t *testing.T) {
	subsetstest.TestContract(t, func(t *testing.T) subsetstest.Fixture {
		folder := t.TempDir()
		path, running, mode := filepath.Join(folder, "list"), filepath.Join(folder, "running"), filepath.Join(folder, "mode")
		files.Write(t, path, "10.0.0.1:80 1\n10.0.0.4:80 1\n")
		files.Write(t, running, files.Read(t, path))
		files.Write(t, mode, "exit 0")
		config := subsets.DefaultFile()
		config.Path = path
		config.Command = []string{"sh", "-c", fmt.Sprintf("(. %s) && cp %s %s.next && mv %s.next %s", mode, path, running, running, running)}
		config.InForce = []string{"sh", "-c", fmt.Sprintf("(. %s) && cat %s", mode, running)}
		if err := config.Validate(); err != nil {
			t.Fatal(err)
		}
		realizer, err := config.Open("front-cart")
		if err != nil {
			t.Fatal(err)
		}
		before, _ := listed(files.Read(t, path))
		see := func() (subsets.Set, error) {
			text, err := os.ReadFile(running)
			if err != nil {
				return nil, err
			}
			return listed(string(text))
		}
		return subsetstest.Fixture{
			Realizer: realizer, Members: four("10.0.0.%d:80"), Before: before,
			InForce: func() subsets.Set { set, _ := see(); return set },
			Look: func(either ...subsets.Set) error {
				set, err := see()
				for _, tt := range either {
					if err == nil && set.Equal(tt) {
						return nil
					}
				}
				return fmt.Errorf("saw %s, %w", set, err)
			},
			Lose:  func() { files.Write(t, running, "") },
			Break: func() { files.Write(t, mode, "exit 1") },
			Stall: func() { files.Write(t, mode, "sleep 60") },
		}
	})
}

// The form of nginx and HAProxy: one member a line, in the program's own syntax.
func TestFileInTheProgramsWords(t *testing.T) {
	for name, tt := range map[string]struct{ line, pattern, want string }{
		"nginx":   {"server {{.Address}} weight={{.Weight}};", `^server (?P<address>\S+) weight=(?P<weight>\d+);$`, "server 10.0.0.1:80 weight=2;\nserver 10.0.0.2:80 weight=1;\n"},
		"haproxy": {"  server {{.Host}}-{{.Port}} {{.Address}} weight {{.Weight}}", `^  server \S+ (?P<address>\S+) weight (?P<weight>\d+)$`, "  server 10.0.0.1-80 10.0.0.1:80 weight 2\n  server 10.0.0.2-80 10.0.0.2:80 weight 1\n"},
	} {
		path := filepath.Join(t.TempDir(), "upstream.conf")
		files.Write(t, path, "# by hand\n")
		config := subsets.DefaultFile()
		config.Path, config.Line, config.Pattern = path, tt.line, tt.pattern
		if err := config.Validate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		realizer, err := config.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		members := four("10.0.0.%d:80")
		set := write(t, realizer, subsets.Member{Address: members[0], Weight: 2}, subsets.Member{Address: members[1], Weight: 1})
		if got := files.Read(t, path); got != tt.want {
			t.Errorf("%s: wrote %q", name, got)
		}
		if got, err := realizer.Read(t.Context()); err != nil || !got.Equal(set) {
			t.Errorf("%s: read %s, %v", name, got, err)
		}
		if err := realizer.Remove(t.Context()); err != nil || files.Read(t, path) != "# by hand\n" {
			t.Errorf("%s: removed: %v, left %q", name, err, files.Read(t, path))
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
			t.Errorf("%s: left behind: %v", name, names)
		}
	}
}

func TestFileGetsItsLinesBackWhenNoProgramCouldBeNotified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	files.Write(t, path, "10.0.0.1:80 1\n")
	config := subsets.DefaultFile()
	config.Path, config.Command = path, []string{"false"}
	realizer, err := config.Open("front-cart")
	if err != nil {
		t.Fatal(err)
	}
	if err := realizer.Write(t.Context(), subsets.Set{{Address: four("10.0.0.%d:80")[1], Weight: 1}}); err == nil {
		t.Error("want an error: the program was not told")
	}
	if got := files.Read(t, path); got != "10.0.0.1:80 1\n" {
		t.Errorf("the file has %q", got)
	}
}
