package reconcile

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sluice.dev/actuators/"

// imports returns the packages that the package in a folder of this module imports, in its tests as well.
func imports(t *testing.T, folder string) (paths []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go file in %s: %v", folder, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// product is true for a package of a product, and for the API of one.
func product(path string) bool {
	for _, name := range []string{"pools", "subsets", "trials"} {
		if under := module + "internal/" + name; path == under || strings.HasPrefix(path, under+"/") {
			return true
		}
	}
	return strings.HasPrefix(path, "sluice.dev/api/") && path != "sluice.dev/api/common/v1"
}

// A fourth product needs no change here: nothing that this package imports, directly or not, is a product.
func TestNoProductIsImported(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	reached := []string{module + "internal/reconcile"}
	for i := 0; i < len(reached); i++ {
		for _, path := range imports(t, filepath.Join(root, strings.TrimPrefix(reached[i], module))) {
			if product(path) {
				t.Errorf("%s imports %s", reached[i], path)
			} else if strings.HasPrefix(path, module) && !slices.Contains(reached, path) {
				reached = append(reached, path)
			}
		}
	}
	if !slices.Contains(reached, module+"internal/disk") {
		t.Errorf("reached only %v: the imports are not read", reached)
	}
}

// The products do import this package, and not each other's cycle.
func TestEachProductImportsTheCycle(t *testing.T) {
	for _, name := range []string{"pools", "subsets", "trials"} {
		paths := imports(t, filepath.Join("..", name))
		if !slices.Contains(paths, module+"internal/reconcile") {
			t.Errorf("%s has a cycle of its own", name)
		}
		for _, other := range []string{"pools", "subsets", "trials"} {
			if other != name && slices.Contains(paths, module+"internal/"+other) {
				t.Errorf("%s imports %s", name, other)
			}
		}
	}
}
