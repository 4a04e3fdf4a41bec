package disk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice.dev/actuators/internal/disk"
)

// TestMain lets a separate process hold a lock until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("DISK_TEST_HOLDS"); path != "" {
		if err := disk.NewLock(path).Claim("b@other"); err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			return
		}
		os.Stdout.WriteString("held\n")
		select {}
	}
	os.Exit(m.Run())
}

// holder is another process that claims the file at path, and its output.
func holder(t *testing.T, path string) (*exec.Cmd, string) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "DISK_TEST_HOLDS="+path)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	text := make([]byte, 512)
	n, _ := out.Read(text)
	return command, string(text[:n])
}

func TestAFileHasOneOwnerUntilThatIsKilled(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "list"), filepath.Join(folder, "link")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	other, answer := holder(t, path)
	if answer != "held\n" {
		t.Fatal(answer)
	}
	for _, name := range []string{path, link} {
		if err := disk.NewLock(name).Claim("a@here"); err == nil || err.Error() != "b@other has "+path {
			t.Fatalf("claimed by two: %v", err)
		}
	}
	other.Process.Kill()
	other.Wait()
	first, second := disk.NewLock(path), disk.NewLock(link) // two targets of one process
	for _, lock := range []*disk.Lock{first, second, first} {
		if err := lock.Claim("a@here"); err != nil {
			t.Fatal(err)
		}
	}
	first.Release()
	first.Release()
	if _, answer := holder(t, link); answer != "a@here has "+path+"\n" {
		t.Errorf("the other was told %q", answer)
	}
	second.Release()
	if _, answer := holder(t, link); answer != "held\n" {
		t.Errorf("after it was given up the other was told %q", answer)
	}
}

func TestAFileThatIsNotThereIsNobodys(t *testing.T) {
	if err := disk.NewLock(filepath.Join(t.TempDir(), "none")).Claim("a@here"); err == nil {
		t.Error("want an error")
	}
}
