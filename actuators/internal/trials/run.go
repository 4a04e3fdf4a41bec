package trials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sluice.dev/actuators/internal/config"

	tuningv1 "sluice.dev/api/tuning/v1"
)

// restoreTime bounds the restoring of values at the end.
const restoreTime = time.Minute

// Run is one process's part in a session.
type Run struct {
	Client  tuningv1.TuningServiceClient
	Target  *Target
	Config  *config.Tune
	Session string
	// Apply: without it the run sets nothing.
	Apply bool
	Out   io.Writer
}

// Trials sets one configuration after the other until the session has ended, or ctx is done. Then it restores the values from
// before the first trial. It leaves a trial in flight unfinished: the next process sets it again, until its time is over.
func (r *Run) Trials(ctx context.Context) (err error) {
	session, err := r.begin(ctx)
	if err != nil {
		return err
	}
	kept := originalsFile(r.Config.State, r.Session)
	before, err := r.before(ctx, kept)
	if err != nil || !r.Apply {
		return err
	}
	defer func() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		if restoreErr := r.restore(within, before); restoreErr != nil {
			err = errors.Join(err, restoreErr)
		} else {
			err = errors.Join(err, kept.forget())
		}
	}()
	trial := unfinished(session)
	for {
		if trial == nil {
			if trial, err = r.requestTrial(ctx); err != nil {
				return ended(ctx, err)
			}
		}
		if trial == nil { // the session has ended
			return nil
		}
		if err := r.try(ctx, trial, before); err != nil {
			return ended(ctx, err)
		}
		trial = nil
	}
}

// Recommended sets the recommendation of an ended session, and leaves it in force.
func (r *Run) Recommended(ctx context.Context) error {
	if _, err := r.begin(ctx); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	explained, err := r.Client.ExplainSession(within, &tuningv1.ExplainSessionRequest{Session: r.Session})
	if err != nil {
		return fmt.Errorf("ask for %s: %w", r.Session, err)
	}
	wanted := ValuesOf(explained.GetRecommended())
	if len(wanted) == 0 {
		return fmt.Errorf("%s recommends nothing yet", r.Session)
	}
	before, err := r.Target.Read(ctx)
	if err != nil {
		return err
	}
	r.difference(before, wanted)
	if !r.Apply {
		return nil
	}
	if err := r.Target.Set(ctx, wanted); err != nil {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()
		return errors.Join(err, r.restore(within, before))
	}
	r.print("set, and read back")
	return nil
}

// begin returns the session, and checks its target and parameters.
func (r *Run) begin(ctx context.Context) (*tuningv1.TuningSession, error) {
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := r.Client.GetSession(within, &tuningv1.GetSessionRequest{Session: r.Session})
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", r.Session, err)
	}
	plan := answer.GetSession().GetPlan()
	if plan.GetTarget() != r.Config.Target {
		return nil, fmt.Errorf("session %s is of target %q; this file is of %q", r.Session, plan.GetTarget(), r.Config.Target)
	}
	var missing []string
	for _, parameter := range plan.GetSpace().GetParameters() {
		if !slices.Contains(r.Target.Names(), parameter.GetName()) {
			missing = append(missing, parameter.GetName())
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("parameters: %s of session %s are not in the file", strings.Join(missing, ", "), r.Session)
	}
	return answer.GetSession(), nil
}

// before returns the values from before the first trial, also after a kill.
func (r *Run) before(ctx context.Context, kept originals) (Values, error) {
	before, err := kept.known()
	if err != nil {
		return nil, err
	}
	if before != nil {
		r.print("an earlier run ended without restoring the original values: this run keeps them")
		return before, nil
	}
	if before, err = r.Target.Read(ctx); err != nil {
		return nil, err
	}
	for _, name := range r.Target.Names() {
		r.print("%s is %s", name, before[name])
	}
	if !r.Apply {
		r.print("dry run: sets nothing")
		return before, nil
	}
	return before, kept.keep(before)
}

func (r *Run) restore(ctx context.Context, before Values) error {
	if err := r.Target.Set(ctx, before); err != nil {
		return fmt.Errorf("restore the original values: %w", err)
	}
	r.print("the original values are in force again")
	return nil
}

// try sets a trial, reports that, and waits for its end. It takes back at once a trial that does harm, and one that the
// target refused, which it reports. An error ends the run.
func (r *Run) try(ctx context.Context, trial *tuningv1.Trial, before Values) error {
	number := trial.GetNumber()
	if err := r.Target.Set(ctx, ValuesOf(trial.GetConfiguration())); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.print("trial %d could not be set: %v", number, err)
		if restoreErr := r.restore(ctx, before); restoreErr != nil {
			return errors.Join(err, restoreErr, r.report(ctx, number, failed(err)))
		}
		return r.report(ctx, number, failed(err))
	}
	r.print("trial %d is in force", number)
	if err := r.report(ctx, number, nil); err != nil {
		return err
	}
	outcome, err := r.outcome(ctx, number)
	if err != nil {
		return err
	}
	r.print("trial %d: %s %s", number, verdictName(outcome.GetVerdict()), outcome.GetWhy())
	if takesBack(outcome.GetVerdict()) {
		return r.restore(ctx, before)
	}
	return nil
}

// difference prints the values that would change.
func (r *Run) difference(now, wanted Values) {
	for _, name := range differing(r.Target.Names(), now, wanted) {
		r.print("%s: %s -> %s", name, now[name], wanted[name])
	}
}

func (r *Run) print(format string, args ...any) {
	fmt.Fprintln(r.Out, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// ended returns err, or nil where the process had to stop.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
