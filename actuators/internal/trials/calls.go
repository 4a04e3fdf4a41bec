package trials

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	tuningv1 "sluice.dev/api/tuning/v1"
)

const (
	// callTime bounds each call; a decider answers within its period.
	callTime = 25 * time.Second
	// retryAfter lies between two attempts while the recommender is away.
	retryAfter = time.Second
)

// requestTrial requests the next trial; nil when the session has ended. Under the same id the recommender returns the same trial.
func (r *Run) requestTrial(ctx context.Context) (*tuningv1.Trial, error) {
	request := &tuningv1.AskTrialsRequest{Session: r.Session, Count: 1, RequestId: rand.Text()}
	for {
		var answer *tuningv1.AskTrialsResponse
		err := r.retry(ctx, func(ctx context.Context) (err error) {
			answer, err = r.Client.AskTrials(ctx, request)
			return err
		})
		switch {
		case err == nil && len(answer.GetTrials()) > 0:
			return answer.GetTrials()[0], nil
		case err != nil && status.Code(err) != codes.FailedPrecondition:
			return nil, fmt.Errorf("ask for a trial: %w", err)
		}
		// The session has ended, or waits for trials of other runs.
		session, err := r.begin(ctx)
		if err != nil {
			return nil, err
		}
		if over(session.GetPhase()) {
			r.print("%s", session.GetWhy())
			return nil, nil
		}
		if err := sleep(ctx, retryAfter); err != nil {
			return nil, err
		}
	}
}

// report reports how a trial ended; without an outcome, that it is in force now.
func (r *Run) report(ctx context.Context, number uint32, outcome *tuningv1.Outcome) error {
	request := &tuningv1.TellTrialRequest{Session: r.Session, Trial: number, Outcome: outcome}
	if outcome == nil {
		request.AppliedAt = timestamppb.Now()
	}
	err := r.retry(ctx, func(ctx context.Context) error {
		_, err := r.Client.TellTrial(ctx, request)
		return err
	})
	if status.Code(err) == codes.AlreadyExists { // reported before, or its time is over
		return nil
	}
	if err != nil {
		return fmt.Errorf("report trial %d: %w", number, err)
	}
	return nil
}

// outcome waits until the decider decides how the trial ended.
func (r *Run) outcome(ctx context.Context, number uint32) (*tuningv1.Outcome, error) {
	for {
		outcome, err := r.watch(ctx, number)
		if outcome != nil || ctx.Err() != nil {
			return outcome, ctx.Err()
		}
		if status.Code(err) == codes.NotFound {
			return nil, fmt.Errorf("watch %s: %w", r.Session, err)
		}
		if err := sleep(ctx, retryAfter); err != nil {
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
		// A stopped session goes on with the measurement, but this run does not wait for it.
		if event.GetSession().GetPhase() == tuningv1.Phase_PHASE_STOPPED {
			return failure("the session was stopped"), nil
		}
	}
	return nil, err
}

// retry repeats a call until the recommender answers.
func (r *Run) retry(ctx context.Context, call func(context.Context) error) error {
	for logged := false; ; {
		within, cancel := context.WithTimeout(ctx, callTime)
		err := call(within)
		cancel()
		if code := status.Code(err); ctx.Err() != nil || code != codes.Unavailable && code != codes.DeadlineExceeded {
			return err
		}
		if !logged {
			r.print("the recommender is away, trying again: %v", err)
			logged = true
		}
		if err := sleep(ctx, retryAfter); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, lasts time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lasts):
		return nil
	}
}
