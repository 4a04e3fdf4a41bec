package spanlimitprocessor

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheLimitHasBounds(t *testing.T) {
	for maxBytes, legal := range map[int]bool{
		-1: false, 0: false, 16383: false, 16384: true, 4_194_000: true, 1 << 30: true, 1<<30 + 1: false,
	} {
		err := (&Config{MaxBytes: maxBytes}).Validate()
		if (err == nil) != legal {
			t.Errorf("max_bytes %d: %v", maxBytes, err)
		}
		if err != nil && !strings.Contains(err.Error(), "from 16384 to 1073741824") {
			t.Errorf("the error does not name the legal range: %v", err)
		}
	}
}

// A tombstone keeps the attributes that the jobs read from a resource.
func TestIdentityIsThatOfTheJobs(t *testing.T) {
	file, err := os.Open("../../streaming-jobs/functions/src/main/resources/dev/sluice/otlp/attributes.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := csv.NewReader(file)
	lines.Comment = '#'
	cells, err := lines.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range cells[1:] {
		if role := line[0]; role == "service" || role == "instance" || role == "host" {
			names = append(names, line[2])
		}
	}
	slices.Sort(names)
	kept := slices.Sorted(slices.Values(identity))
	if names = slices.Compact(names); !slices.Equal(names, kept) {
		t.Errorf("attributes.csv reads %v, a tombstone keeps %v", names, kept)
	}
}
