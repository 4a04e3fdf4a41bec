package subsetstest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
)

const inside = "SLUICE_TEST_IN_NAMESPACE"

// InNamespace returns true in a process in a network namespace of its own, where lo is up and the test may change the
// network. Outside, it runs the test in such a process, reports its result, and returns false.
func InNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) == t.Name() {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			t.Fatal(err)
		}
		return true
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inside+"="+t.Name())
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 { // root within a user namespace of its own
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	output, err := again.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may make no network namespace: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	t.Logf("in a namespace:\n%s", output)
	return false
}
