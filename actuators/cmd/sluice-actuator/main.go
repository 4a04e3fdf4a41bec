// Command sluice-actuator applies recommended pool sizes and connection subsets, reads them back and reports.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/ready"
	"sluice.dev/actuators/internal/web"
)

// version is set by -ldflags "-X main.version=...".
var version = ""

const usage = `sluice-actuator applies recommended pool sizes to targets.

It watches the recommender's decisions, reads each target's size, writes the recommended one where the target opted
in, reads it back, and reports. Without an opt-in (apply: true in the file, or --apply) it never writes. It notifies
the recommender when the CPU limit, the replicas or the version of a service change (scaling: in the file).

One write changes a size by at most max_factor (2 unless the file has another) from a size that was in force: the
one read, the one it wrote last, or that of the pool's other instances. So it puts a change by somebody else right in
one write. When somebody keeps changing the size, it writes ever more rarely.

For callers that do not speak xDS it writes their connection subsets (subsets: in the file), by nftables or a file,
in the same way: read only without an opt-in, replaced as a whole, read back, reported.

It reports the containers of Kubernetes Services (containers: in the file), so that subsets follow a rollout.

Usage: sluice-actuator --config FILE [--apply TARGET]... [--once | --dry-run | --restore TARGET... | --check]
       sluice-actuator health: exits with 0 when the actuator on SLUICE_HEALTH is ready, else prints the causes
       sluice-actuator tune ...: sets the trials of a tuning session (tune --help)

  --config FILE    the configuration (YAML); unknown keys are errors
  --apply TARGET   opt this target or subset in for this run; may be repeated; "all" opts in every one
  --once           one pass over every target, then exit: 0 when it read each and no size failed or was refused;
                   it lists decisions instead of watching them, and reports no scaling and no containers
  --dry-run        print the write it would make to each target, with the reason, and the difference of each subset;
                   write, report and store nothing
  --restore TARGET write the size from before the first write, which the state keeps, or remove a subset; may be
                   repeated, or "all"
  --check          validate the configuration and exit
  --version        print the version and exit
  --help           print this text and exit

Examples:
  sluice-actuator --config actuator.yaml --dry-run
  sluice-actuator --config actuator.yaml --apply cart.threads

Environment:
  SLUICE_HEALTH         address of /livez, /readyz, /status and /metrics, instead of the file's status_address
  SLUICE_HEALTH_EXPOSE  true: that address may be one that other hosts reach (false)
  SLUICE_TLS_CA         PEM file with the authority that signed the recommender's certificate; turns TLS on
  SLUICE_TLS_CLIENT_CERT, SLUICE_TLS_CLIENT_KEY  PEM files, for a recommender that asks for a certificate
  SLUICE_TOKEN_FILE     file with the token that is sent with every call; SLUICE_TOKEN, the token itself, is an error
  SLUICE_INSECURE       true: the token may be sent without TLS also off loopback, where a mesh encrypts it (false)
  GOMEMLIMIT            the memory limit of the Go runtime; by default 90 % of the container's
  The file's addresses, paths and header values may name further variables.

Exit status: 0 done, 1 failed, 2 wrong use or configuration.
SIGHUP, or another content of the file within 10 s: new targets begin, those that are gone end without a write, changed
ones begin again with their state. A bad file is refused as a whole.
SIGTERM or SIGINT: /readyz turns 503, the writes under way finish (shutdown_grace, 6 s), the queued reports are sent
for 3 s, exit 0.
`

type options struct {
	config      string
	apply       []string
	restore     []string
	once, check bool
	dryRun      bool
	version     bool
}

func main() {
	web.Version = buildVersion()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(arguments []string, out, errs io.Writer) int {
	if len(arguments) > 0 && arguments[0] == "tune" {
		return runTune(arguments[1:], out, errs)
	}
	if len(arguments) == 1 && arguments[0] == "health" {
		if err := ready.Ask(os.Getenv); err != nil {
			fmt.Fprintf(errs, "sluice-actuator: %v\n", err)
			return 1
		}
		return 0
	}
	o, err := parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "sluice-actuator: %v (--help shows what is legal)\n", err)
		return 2
	case o.version:
		fmt.Fprintln(out, "sluice-actuator", buildVersion())
		return 0
	}
	c, err := config.Load(o.config, os.LookupEnv)
	if err == nil {
		err = errors.Join(c.OptIn(o.apply), dial.OnlyFiles(os.LookupEnv))
	}
	if err != nil {
		fmt.Fprintf(errs, "sluice-actuator: %v\n", err)
		return 2
	}
	if o.check {
		what := number(len(c.Targets), "target")
		if len(c.Subsets) > 0 {
			what += " and " + number(len(c.Subsets), "subset")
		}
		fmt.Fprintf(out, "%s: valid: %s, %d opted in to apply\n", o.config, what, optedIn(c))
		return 0
	}
	if err := act(c, o, out, errs); err != nil {
		fmt.Fprintf(errs, "sluice-actuator: %v\n", err)
		return 1
	}
	return 0
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("sluice-actuator", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.config, "config", "", "")
	flags.Func("apply", "", func(name string) error { o.apply = append(o.apply, name); return nil })
	flags.Func("restore", "", func(name string) error { o.restore = append(o.restore, name); return nil })
	flags.BoolVar(&o.once, "once", false, "")
	flags.BoolVar(&o.dryRun, "dry-run", false, "")
	flags.BoolVar(&o.check, "check", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	switch {
	case o.version:
		return o, nil
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.config == "":
		return o, errors.New("--config FILE is missing")
	}
	ways := 0
	for _, one := range []bool{o.once, o.check, o.dryRun, len(o.restore) > 0} {
		if one {
			ways++
		}
	}
	if ways > 1 {
		return o, errors.New("--once, --dry-run, --restore and --check exclude each other")
	}
	return o, nil
}

func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func optedIn(c *config.Config) (n int) {
	for _, t := range c.Targets {
		if t.Apply {
			n++
		}
	}
	for _, s := range c.Subsets {
		if s.Apply {
			n++
		}
	}
	return n
}

// buildVersion falls back on what the toolchain recorded.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "development"
}
