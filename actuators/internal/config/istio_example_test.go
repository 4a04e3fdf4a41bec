package config_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/subsets"
	"sluice.dev/actuators/internal/tests/files"
)

const istio = "../../../deploy/istio"

// serviceEntry has the fields of Istio's ServiceEntry that the example writes.
type serviceEntry struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Hosts                []string
		Location, Resolution string
		Ports                []struct {
			Number         uint32
			Name, Protocol string
		}
		Endpoints []struct {
			Address string
			Ports   map[string]uint32
			Weight  uint32
		}
	}
}

// The example of docs/istio.md, with a kubectl that keeps what it is given.
func TestTheIstioExampleWritesAServiceEntry(t *testing.T) {
	folder := t.TempDir()
	files.Write(t, filepath.Join(folder, "service-entry-head.yaml"), files.Read(t, filepath.Join(istio, "service-entry-head.yaml")))
	files.Write(t, filepath.Join(folder, "cart-endpoints.yaml"), "")
	files.Write(t, filepath.Join(folder, "kubectl"), "#!/bin/sh\n[ \"$*\" = 'apply -f -' ] && cat > $ISTIO_DIR/applied.yaml\n")
	if err := os.Chmod(filepath.Join(folder, "kubectl"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("POD_NAME", "frontend-1")
	t.Setenv("ISTIO_DIR", folder)
	loaded, err := config.Load(filepath.Join(istio, "actuator.yaml"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	subset := loaded.Subsets[0]
	realizer, err := subset.Block.Open(subset.Name)
	if err != nil {
		t.Fatal(err)
	}
	set, err := subsets.NewSet([]subsets.Member{
		{Address: netip.MustParseAddrPort("10.0.0.1:8080"), Weight: 3}, {Address: netip.MustParseAddrPort("10.0.0.2:8081"), Weight: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := realizer.Write(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if read, err := realizer.Read(t.Context()); err != nil || !read.Equal(set) {
		t.Error(read, err)
	}
	var entry serviceEntry
	decoder := yaml.NewDecoder(strings.NewReader(files.Read(t, filepath.Join(folder, "applied.yaml"))))
	if err := decoder.Decode(&entry); err != nil {
		t.Fatal(err)
	}
	if entry.Kind != "ServiceEntry" || entry.Metadata.Name != "cart-of-frontend-1" || entry.Spec.Hosts[0] != "cart.frontend-1.sluice.internal" {
		t.Error(entry)
	}
	ends := entry.Spec.Endpoints
	if len(ends) != 2 || ends[0].Address != "10.0.0.1" || ends[0].Ports["http"] != 8080 || ends[0].Weight != 3 || ends[1].Weight != 1 {
		t.Error(ends)
	}
}
