package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary stand in for the command, so that tests can start it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("BE_SLUICE_ACTUATOR") == "1" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const localConfig = "../../../deploy/local/actuator.yaml"

func TestCommandLine(t *testing.T) {
	t.Setenv("DEMO_TOKEN", "of-minimal.yaml")
	tests := []struct {
		name      string
		arguments []string
		status    int
		out, errs string
	}{
		{"help", []string{"--help"}, 0, "Usage: sluice-actuator --config FILE", ""},
		{"help has an example", []string{"--help"}, 0, "\n  sluice-actuator --config actuator.yaml --dry-run\n", ""},
		{"help of tune has an example", []string{"tune", "--help"}, 0, "\n  sluice-actuator tune --config parameters.yaml", ""},
		{"help names the secrets", []string{"--help"}, 0, "SLUICE_TOKEN_FILE     file with the token", ""},
		{"version", []string{"--version"}, 0, "sluice-actuator ", ""},
		{"check", []string{"--check", "--config", localConfig}, 0, "actuator.yaml: valid: 2 targets, 0 opted in to apply", ""},
		{"check one", []string{"--check", "--config", "../../internal/config/testdata/minimal.yaml"}, 0, "minimal.yaml: valid: 1 target, 0 opted in to apply", ""},
		{"check no targets yet", []string{"--check", "--config", "../../../deploy/local/empty/actuator.yaml", "--apply=all"}, 0, "valid: 0 targets", ""},
		{"opt in one", []string{"--check", "--config", localConfig, "--apply", "cart.threads"}, 0, "2 targets, 1 opted in to apply", ""},
		{"opt in all", []string{"--check", "--config", localConfig, "--apply=all"}, 0, "2 targets, 2 opted in to apply", ""},
		{"opt in twice", []string{"--check", "--config", localConfig, "--apply", "cart.threads", "--apply", "catalogue.connections"}, 0, "2 targets, 2 opted in to apply", ""},
		{"opt in nobody", []string{"--check", "--config", localConfig, "--apply", "cart"}, 2, "", `"cart": not configured; want all or one of: cart.threads, catalogue.connections`},
		{"no config", nil, 2, "", "--config FILE is missing (--help"},
		{"no such file", []string{"--config", "none.yaml"}, 2, "", "none.yaml: no such file"},
		{"bad config", []string{"--config", "../../internal/config/testdata/bad/min_zero.yaml"}, 2, "", "min_zero.yaml: targets[0].min: 0: want 1 to 65535"},
		{"unknown flag", []string{"--aply", "x"}, 2, "", "-aply (--help shows what is legal)"},
		{"argument", []string{"--config", localConfig, "go"}, 2, "", `unexpected argument "go"`},
		{"once and check", []string{"--config", localConfig, "--once", "--check"}, 2, "", "exclude each other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := run(tt.arguments, &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.errs) {
				t.Errorf("status %d, want %d\nout: %s\nwant: %s\nerrs: %s\nwant: %s", status, tt.status, &out, tt.out, &errs, tt.errs)
			}
			if (out.Len() == 0) != (tt.out == "") || (errs.Len() == 0) != (tt.errs == "") {
				t.Errorf("unexpected text\nout: %s\nerrs: %s", &out, &errs)
			}
		})
	}
}
