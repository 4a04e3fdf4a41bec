package state_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/pools/state"
	"sluice.dev/actuators/internal/reconcile"
)

func folder(t *testing.T, path string) *state.Folder {
	t.Helper()
	f, err := state.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestStores(t *testing.T) {
	at := time.UnixMilli(1_772_366_400_000).UTC()
	full := state.Record{
		Original: &pool.Size{Unbounded: true},
		Writes:   policy.Writes{At: at, Size: 12, Repeats: 3, Kept: 16, Full: at.Add(time.Hour)},
		Intent:   &state.Intent{ID: "a", At: at, Size: 12, Previous: pool.Of(16), Revision: 7},
	}
	full.Ended = []state.Ended{{Intent: *full.Intent, Outcome: reconcile.Reverted, ReadBack: pool.Of(16), Detail: "why", Done: at}}
	for name, store := range map[string]state.Store{"folder": folder(t, filepath.Join(t.TempDir(), "new")), "memory": &state.Memory{}} {
		if got, err := store.Load("cart.threads"); err != nil || !reflect.DeepEqual(got, state.Record{}) {
			t.Errorf("%s: %+v, %v, want an empty record", name, got, err)
		}
		for _, want := range []state.Record{full, {}, full.Reported("b"), full.Reported("a")} {
			if err := store.Save("cart.threads", want); err != nil {
				t.Fatal(err)
			}
			if got, err := store.Load("cart.threads"); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v\nwant %+v", name, got, err, want)
			}
		}
		if got, err := store.Load("cart.connections"); err != nil || got.Intent != nil {
			t.Errorf("%s: %+v, %v of another target", name, got, err)
		}
	}
}

func TestOneProcessHasAFolder(t *testing.T) {
	path := t.TempDir()
	first := folder(t, path)
	if _, err := state.OpenFolder(path); err == nil || !strings.Contains(err.Error(), "another running actuator has") {
		t.Errorf("error %v, want the folder to be taken", err)
	}
	if err := first.Save("cart", state.Record{Writes: policy.Writes{Size: 12}}); err != nil {
		t.Fatal(err)
	}
	if looked, err := state.Copy(path, []string{"cart", "none"}); err != nil {
		t.Error(err)
	} else if got, _ := looked.Load("cart"); got.Writes.Size != 12 {
		t.Errorf("%+v, want what the folder has", got)
	}
	first.Close()
	folder(t, path)
}

func TestWhatCannotBeReadIsPutAside(t *testing.T) {
	path := t.TempDir()
	f := folder(t, path)
	if err := os.WriteFile(filepath.Join(path, "cart.json"), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Load("cart"); err == nil || !strings.Contains(err.Error(), "cart.json") || got.Intent != nil {
		t.Errorf("%+v, %v, want an error that names the file", got, err)
	}
	if got, err := f.Load("cart"); err != nil || !reflect.DeepEqual(got, state.Record{}) {
		t.Errorf("%+v, %v, want an empty record from then on", got, err)
	}
	if _, err := os.Stat(filepath.Join(path, "cart.json.bad")); err != nil {
		t.Error(err)
	}
}

func TestAFolderIsTidied(t *testing.T) {
	path := t.TempDir()
	for name, age := range map[string]time.Duration{
		"new.json": 100 * 24 * time.Hour, "old.json": 366 * 24 * time.Hour, "old.json.bad": 366 * 24 * time.Hour, ".half.json.123": 0,
	} {
		file := filepath.Join(path, name)
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	folder(t, path)
	names, _ := filepath.Glob(filepath.Join(path, "*"))
	hidden, _ := filepath.Glob(filepath.Join(path, ".*"))
	if left := append(names, hidden...); len(left) != 2 || filepath.Base(left[0]) != "lock" || filepath.Base(left[1]) != "new.json" {
		t.Errorf("left %v, want the lock and the new record", left)
	}
}
