package realize_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/realize"
	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/realizetest"
)

// A program that has the size in `running`, and reads it from the file when its command runs.
func TestFileContract(t *testing.T) {
	realizetest.TestContract(t, func(t *testing.T) realizetest.Fixture {
		folder := t.TempDir()
		path, running, mode := filepath.Join(folder, "size"), filepath.Join(folder, "running"), filepath.Join(folder, "mode")
		files.Write(t, path, "64\n")
		files.Write(t, running, "64")
		files.Write(t, mode, "exit 0")
		config := realize.DefaultFile()
		config.Path = path
		config.Command = []string{"sh", "-c", fmt.Sprintf("(. %s) && cp %s %s.next && mv %s.next %s", mode, path, running, running, running)}
		config.InForce = []string{"sh", "-c", fmt.Sprintf("(. %s) && cat %s", mode, running)}
		return realizetest.Fixture{
			Realizer: opened(t, &config),
			Size: func() uint32 {
				n, _ := strconv.Atoi(strings.TrimSpace(files.Read(t, running)))
				return uint32(n)
			},
			SetSize: func(size uint32) { files.Write(t, running, fmt.Sprint(size)) },
			Break:   func() { files.Write(t, mode, "exit 1") },
			Stall:   func() { files.Write(t, mode, "sleep 60") },
		}
	})
}

func TestFileKeepsTheRestAndItsMode(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "proxy.conf"), filepath.Join(folder, "link")
	files.Write(t, path, "# at most\nconnections 64;\nthreads 8;\n")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	config := realize.DefaultFile()
	config.Path, config.Pattern = link, `^connections (\d+);$`
	r := opened(t, &config)
	if err := r.Write(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	if got := files.Read(t, path); got != "# at most\nconnections 12;\nthreads 8;\n" {
		t.Errorf("wrote %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v, want that of before", info.Mode(), err)
	}
	if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(12) {
		t.Errorf("Read() = %v, %v", got, err)
	}
	if names, _ := os.ReadDir(folder); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

// By SIGUSR1: a shell cannot trap a signal that was ignored when it began, as SIGHUP is under nohup.
func TestFileSignals(t *testing.T) {
	folder := t.TempDir()
	path, pid, copied := filepath.Join(folder, "size"), filepath.Join(folder, "pid"), filepath.Join(folder, "heard")
	files.Write(t, path, "64")
	program := exec.Command("sh", "-c", fmt.Sprintf("trap 'cp %s %s' USR1; echo $$ > %s; while :; do sleep 0.01; done", path, copied, pid))
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { syscall.Kill(-program.Process.Pid, syscall.SIGKILL); program.Wait() }()
	waitFor(t, pid, fmt.Sprint(program.Process.Pid, "\n"))
	config := realize.DefaultFile()
	config.Path, config.Signal, config.PIDFile = path, "USR1", pid
	r := opened(t, &config)
	if err := r.Write(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	waitFor(t, copied, "12")
	files.Write(t, pid, "0")
	if err := r.Write(t.Context(), 7); err == nil || !strings.Contains(err.Error(), "want a process id") {
		t.Errorf("error %v: a signal to 0 goes to everybody", err)
	}
	if got := files.Read(t, path); got != "12" {
		t.Errorf("the file has %q after nobody could be told, want 12 again", got)
	}
}

// The size in the file is not the program's until it was notified, also after another write without a notification.
func TestFileWhoseProgramWasNotNotified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "size")
	files.Write(t, path, "64")
	config := realize.DefaultFile()
	config.Path, config.Command = path, []string{"sh", "-c", "kill -9 $$"}
	r := opened(t, &config)
	if err := r.Write(t.Context(), 12); err == nil {
		t.Error("want an error: the command was killed")
	}
	files.Write(t, path+".untold-3c907b0d", "64") // as a process leaves it that was killed
	files.Write(t, path, "12")
	want := func(size uint32) {
		t.Helper()
		if got, _, err := r.Read(t.Context()); err != nil || got != pool.Of(size) {
			t.Errorf("Read() = %v, %v, want %d", got, err, size)
		}
	}
	want(64)
	if err := r.Write(t.Context(), 16); err == nil {
		t.Error("want an error: the command was killed")
	}
	want(64)
	config.Command = []string{"true"}
	r = opened(t, &config)
	if err := r.Write(t.Context(), 16); err != nil {
		t.Error(err)
	}
	want(16)
}

func waitFor(t *testing.T, path, want string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && string(text) == want {
			return
		}
	}
	t.Fatalf("after 2 min %s has not %q", path, want)
}
