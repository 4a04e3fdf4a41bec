package holds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	poolsv1 "sluice.dev/api/pools/v1"
)

const (
	// mostTargets of a call, as the recommender takes them.
	mostTargets = 500
	// gather is how long is waited for further targets, so that one call has all that begin together.
	gather = 50 * time.Millisecond
	// pause lies between two calls of which the first failed, and least between any two for somebody else's end.
	pause, least = 5 * time.Second, time.Second
)

// Run claims, and renews, until ctx ends; a call under way ends by itself.
func (k *Keeper) Run(ctx context.Context) {
	next := gather // those of the start
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(next):
		case <-k.wake:
			select {
			case <-ctx.Done():
			case <-time.After(gather):
			}
		}
		next = k.round(ctx)
	}
}

// round asks for all, and says after how long it is to be asked again.
func (k *Keeper) round(ctx context.Context) time.Duration {
	next, err := k.ask(context.WithoutCancel(ctx))
	if err == nil {
		return next
	}
	again := min(pause, k.lease/4)
	return again/2 + rand.N(again/2)
}

// ask claims all targets that are wanted and releases those that are left, in as few calls as may be. It returns when
// something is due again.
func (k *Keeper) ask(ctx context.Context) (next time.Duration, err error) {
	k.mu.Lock()
	select {
	case <-k.wake: // it was for one of these
	default:
	}
	claims, releases := slices.Sorted(maps.Keys(k.wanted)), slices.Sorted(maps.Keys(k.left))
	k.mu.Unlock()
	next = renewAfter(k.lease)
	for len(claims)+len(releases) > 0 {
		n := min(len(claims), mostTargets)
		m := min(len(releases), mostTargets-n)
		ended, callErr := k.call(ctx, claims[:n], releases[:m])
		next, err = min(next, ended), errors.Join(err, callErr)
		claims, releases = claims[n:], releases[m:]
	}
	return next, err
}

// call is one of at most mostTargets, and what its answer changes. It returns when the first of those that somebody else
// has is free unless that is renewed.
func (k *Keeper) call(ctx context.Context, claims, releases []string) (time.Duration, error) {
	sent := time.Now()
	within, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	response, err := k.client.HoldTargets(within, &poolsv1.HoldTargetsRequest{
		Holder: k.holder, Targets: claims, Releases: releases, Lease: durationpb.New(k.lease),
	})
	if err == nil && len(response.GetHolds()) != len(claims) {
		err = fmt.Errorf("answers for %d of %d targets", len(response.GetHolds()), len(claims))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		return k.failed(claims, releases, err)
	}
	k.unknown, k.answered = false, true
	next := renewAfter(k.lease)
	for _, hold := range response.GetHolds() {
		w := k.wanted[hold.GetTarget()]
		switch {
		case w == nil: // it ended meanwhile
			if hold.GetGranted() {
				k.left[hold.GetTarget()] = true
				k.rouse()
			}
			continue
		case hold.GetGranted():
			w.safe, w.fault = sent.Add(safeFor(k.lease)), nil
		default:
			w.safe, w.fault = time.Time{}, foreign(hold)
			next = min(next, max(least, hold.GetLeft().AsDuration()))
		}
		w.answered()
	}
	for _, key := range releases {
		delete(k.left, key)
	}
	return next, nil
}

// failed is after a call without an answer: what this process has it keeps until that is not safe any more.
func (k *Keeper) failed(claims, releases []string, err error) (time.Duration, error) {
	if status.Code(err) == codes.Unimplemented && !k.answered {
		if !k.unknown {
			k.log.Warn("the recommender cannot say who writes a target: nothing keeps actuators of several hosts apart", "error", err)
		}
		k.unknown, err = true, nil
	}
	for _, key := range claims {
		if w := k.wanted[key]; w != nil {
			w.fault = fmt.Errorf("who has the target is not known: %s", status.Convert(err).Message())
			w.answered()
		}
	}
	for _, key := range releases {
		delete(k.left, key) // its lease ends by itself
	}
	return renewAfter(k.lease), err
}

func (w *wanted) answered() {
	select {
	case <-w.asked:
	default:
		close(w.asked)
	}
}
