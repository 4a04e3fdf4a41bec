package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/trials"

	tuningv1 "sluice.dev/api/tuning/v1"
)

const tuneUsage = `sluice-actuator tune sets the trials of a tuning session, one configuration after the other.

It reads every parameter, sets those that the trial changes, reloads or restarts as the file says, and reads them back.
It reports that to the recommender, which measures the trial and decides how it ended. It takes a trial back at once
when the trial breaks an SLO or the target refuses it. At the end, on SIGTERM or after a failure, it sets the values
from before the first trial; with state: in the file, the next run does so after a kill. Without --apply it sets nothing.

Usage: sluice-actuator tune --config FILE --session NAME [--apply] [--recommended] [--check]

  --config FILE     how each parameter is read and set (YAML); unknown keys are errors
  --session NAME    the session
  --recommender A   HOST:PORT, instead of the file's
  --apply           set the values of trials
  --recommended     set the recommendation of the ended session, once, and leave it in force
  --check           validate the file and exit
  --help            print this text and exit

Example:
  sluice-actuator tune --config parameters.yaml --session first --apply

Environment: as of sluice-actuator, and SLUICE_TOKEN, the token itself. Exit status: 0 done, 1 failed, 2 wrong use or configuration.
`

type tuneOptions struct {
	config, session, recommender string
	apply, recommended, check    bool
}

func runTune(arguments []string, out, errs io.Writer) int {
	var o tuneOptions
	flags := flag.NewFlagSet("sluice-actuator tune", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.config, "config", "", "")
	flags.StringVar(&o.session, "session", "", "")
	flags.StringVar(&o.recommender, "recommender", "", "")
	flags.BoolVar(&o.apply, "apply", false, "")
	flags.BoolVar(&o.recommended, "recommended", false, "")
	flags.BoolVar(&o.check, "check", false, "")
	err := flags.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, tuneUsage)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && (o.config == "" || o.session == ""):
		err = errors.New("--config FILE or --session NAME is missing")
	}
	var c *config.Tune
	if err == nil {
		c, err = config.LoadTune(o.config, os.LookupEnv)
	}
	if err != nil {
		fmt.Fprintf(errs, "sluice-actuator tune: %v\n", err)
		return 2
	}
	if o.recommender != "" {
		c.Recommender = o.recommender
	}
	if o.check {
		fmt.Fprintf(out, "%s: valid: %d parameters of %s\n", o.config, len(c.Parameters), c.Target)
		return 0
	}
	if err := tuneWith(c, o, out); err != nil {
		fmt.Fprintf(errs, "sluice-actuator tune: %v\n", err)
		return 1
	}
	return 0
}

func tuneWith(c *config.Tune, o tuneOptions, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	connection, err := dial.Open(c.Recommender, os.LookupEnv)
	if err != nil {
		return err
	}
	defer connection.Close()
	target, err := trials.Open(c)
	if err != nil {
		return err
	}
	run := &trials.Run{
		Client: tuningv1.NewTuningServiceClient(connection), Target: target, Config: c, Session: o.session, Apply: o.apply, Out: out,
	}
	if o.recommended {
		return run.Recommended(ctx)
	}
	return run.Trials(ctx)
}
