package tune

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"sluice.dev/actuators/internal/config"

	tuningv1 "sluice.dev/api/tuning/v1"
)

const (
	// callTime bounds each call; a decider answers within its period.
	callTime = 25 * time.Second
	// again lies between two attempts at a recommender that is away.
	again = time.Second
	// restoreTime bounds what is done at the end.
	restoreTime = time.Minute
)

// Run is one process's part in a session.
type Run struct {
	Client  tuningv1.TuningServiceClient
	Target  *Target
	Config  *config.Tune
	Session string
	// Apply: without it nothing is set.
	Apply bool
	Out   io.Writer
}

// Trials tries one configuration after the other until the session has ended, or ctx is done; then what was in force before
// is so again. A trial in flight is left so: the next process sets it again, until its time is over.
func (r *Run) Trials(ctx context.Context) (err error) {
	session, err := r.begin(ctx)
	if err != nil {
		return err
	}
	kept := originalsOf(r.Config.State, r.Session)
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
	flying := inFlight(session)
	for {
		if flying == nil {
			if flying, err = r.ask(ctx); err != nil {
				return ended(ctx, err)
			}
		}
		if flying == nil { // the session has ended
			return nil
		}
		if err := r.try(ctx, flying, before); err != nil {
			return ended(ctx, err)
		}
		flying = nil
	}
}

// Recommended sets what an ended session recommends, and leaves it so.
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
	r.say("set, and read back")
	return nil
}

// begin is the session, which has to be of the target and its parameters.
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

// before is what was in force before the first trial, also over a kill.
func (r *Run) before(ctx context.Context, kept originals) (Values, error) {
	before, err := kept.known()
	if err != nil {
		return nil, err
	}
	if before != nil {
		r.say("an earlier run ended without putting back what was in force before it: that is kept")
		return before, nil
	}
	if before, err = r.Target.Read(ctx); err != nil {
		return nil, err
	}
	for _, name := range r.Target.Names() {
		r.say("%s is %s", name, before[name])
	}
	if !r.Apply {
		r.say("dry run: nothing is set")
		return before, nil
	}
	return before, kept.keep(before)
}

func (r *Run) restore(ctx context.Context, before Values) error {
	if err := r.Target.Set(ctx, before); err != nil {
		return fmt.Errorf("put back what was in force before: %w", err)
	}
	r.say("what was in force before is so again")
	return nil
}

// try sets a trial, tells that, and waits for how it ended. What does harm is taken back at once, and so is what the target
// refused, which is told. An error ends the run.
func (r *Run) try(ctx context.Context, trial *tuningv1.Trial, before Values) error {
	number := trial.GetNumber()
	if err := r.Target.Set(ctx, ValuesOf(trial.GetConfiguration())); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.say("trial %d could not be set: %v", number, err)
		if restoreErr := r.restore(ctx, before); restoreErr != nil {
			return errors.Join(err, restoreErr, r.tell(ctx, number, failed(err)))
		}
		return r.tell(ctx, number, failed(err))
	}
	r.say("trial %d is in force", number)
	if err := r.tell(ctx, number, nil); err != nil {
		return err
	}
	outcome, err := r.outcome(ctx, number)
	if err != nil {
		return err
	}
	verdict := strings.TrimPrefix(outcome.GetVerdict().String(), "VERDICT_")
	r.say("trial %d: %s %s", number, verdict, outcome.GetWhy())
	switch outcome.GetVerdict() {
	case tuningv1.Verdict_VERDICT_UNSAFE, tuningv1.Verdict_VERDICT_FAILED:
		return r.restore(ctx, before)
	}
	return nil
}

// ask is the next trial; nil when the session has ended. Asked again under the same id, it is the same one.
func (r *Run) ask(ctx context.Context) (*tuningv1.Trial, error) {
	request := &tuningv1.AskTrialsRequest{Session: r.Session, Count: 1, RequestId: rand.Text()}
	for {
		var answer *tuningv1.AskTrialsResponse
		err := r.patiently(ctx, func(ctx context.Context) (err error) {
			answer, err = r.Client.AskTrials(ctx, request)
			return err
		})
		switch {
		case err == nil && len(answer.GetTrials()) > 0:
			return answer.GetTrials()[0], nil
		case err != nil && status.Code(err) != codes.FailedPrecondition:
			return nil, fmt.Errorf("ask for a trial: %w", err)
		}
		// Ended, or waiting for trials that others have.
		session, err := r.begin(ctx)
		if err != nil {
			return nil, err
		}
		if over(session.GetPhase()) {
			r.say("%s", session.GetWhy())
			return nil, nil
		}
		if err := sleep(ctx, again); err != nil {
			return nil, err
		}
	}
}

// tell tells how a trial ended; without an outcome, that it is in force now.
func (r *Run) tell(ctx context.Context, number uint32, outcome *tuningv1.Outcome) error {
	request := &tuningv1.TellTrialRequest{Session: r.Session, Trial: number, Outcome: outcome}
	if outcome == nil {
		request.AppliedAt = timestamppb.Now()
	}
	err := r.patiently(ctx, func(ctx context.Context) error {
		_, err := r.Client.TellTrial(ctx, request)
		return err
	})
	if status.Code(err) == codes.AlreadyExists { // told before, or its time is over
		return nil
	}
	if err != nil {
		return fmt.Errorf("tell of trial %d: %w", number, err)
	}
	return nil
}

// outcome waits until the decider says how the trial ended.
func (r *Run) outcome(ctx context.Context, number uint32) (*tuningv1.Outcome, error) {
	for {
		outcome, err := r.watch(ctx, number)
		if outcome != nil || ctx.Err() != nil {
			return outcome, ctx.Err()
		}
		if status.Code(err) == codes.NotFound {
			return nil, fmt.Errorf("watch %s: %w", r.Session, err)
		}
		if err := sleep(ctx, again); err != nil {
			return nil, err
		}
	}
}

func (r *Run) watch(ctx context.Context, number uint32) (*tuningv1.Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := r.Client.WatchSession(ctx, &tuningv1.WatchSessionRequest{Session: r.Session})
	for err == nil {
		var event *tuningv1.WatchSessionResponse
		if event, err = stream.Recv(); err != nil {
			break
		}
		if trial := event.GetTrial(); trial.GetOutcome() != nil && trial.GetNumber() == number {
			return trial.GetOutcome(), nil
		}
		// One that was stopped measures what is in force on, but nobody wants to wait for it.
		if event.GetSession().GetPhase() == tuningv1.Phase_PHASE_STOPPED {
			return &tuningv1.Outcome{Verdict: tuningv1.Verdict_VERDICT_FAILED, Why: "the session was stopped"}, nil
		}
	}
	return nil, err
}

// patiently makes a call until it is answered.
func (r *Run) patiently(ctx context.Context, call func(context.Context) error) error {
	for said := false; ; {
		within, cancel := context.WithTimeout(ctx, callTime)
		err := call(within)
		cancel()
		if code := status.Code(err); ctx.Err() != nil || code != codes.Unavailable && code != codes.DeadlineExceeded {
			return err
		}
		if !said {
			r.say("the recommender is away, trying again: %v", err)
			said = true
		}
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
}

// difference says what would change.
func (r *Run) difference(now, wanted Values) {
	for _, name := range r.Target.Names() {
		if value, ok := wanted[name]; ok && !same(now[name], value) {
			r.say("%s: %s -> %s", name, now[name], value)
		}
	}
}

func (r *Run) say(format string, args ...any) {
	fmt.Fprintln(r.Out, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// inFlight is the trial that an earlier process was handed.
func inFlight(session *tuningv1.TuningSession) *tuningv1.Trial {
	for _, trial := range session.GetTrials() {
		if trial.GetOutcome() == nil && !over(session.GetPhase()) {
			return trial
		}
	}
	return nil
}

func failed(err error) *tuningv1.Outcome {
	why := strings.ToValidUTF8(err.Error(), "?")
	if len(why) > 500 {
		why = strings.ToValidUTF8(why[:500], "")
	}
	return &tuningv1.Outcome{Verdict: tuningv1.Verdict_VERDICT_FAILED, Why: why}
}

func over(phase tuningv1.Phase) bool {
	return phase == tuningv1.Phase_PHASE_DONE || phase == tuningv1.Phase_PHASE_STOPPED
}

// ended is err, but where the process was told to stop.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func sleep(ctx context.Context, how time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(how):
		return nil
	}
}
