package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	firstBackoff = 500 * time.Millisecond
	// maxBackoff bounds how long a recommender that is back may go unnoticed.
	maxBackoff = 10 * time.Second
	// maxSilence is two and a half of the recommender's heartbeats, which come every 10 s whatever it computes.
	maxSilence = 25 * time.Second
)

// Receiver is one stream of events, until its error.
type Receiver[E any] interface{ Recv() (E, error) }

// Stream is a watch without an end: one that breaks, or on which nothing comes for 25 s, is opened again after a pause that
// grows from 0.5 s to 10 s, each time by half of itself more or less, so that the actuators of a recommender that was
// restarted do not come back all at once.
type Stream[E any] struct {
	// Open asks for what came since the last whole batch.
	Open func(ctx context.Context) (Receiver[E], error)
	// Take takes up one event. whole: it ended a batch.
	Take func(E) (whole bool, err error)
	// Lost is told why nothing comes any more.
	Lost func(error)
	// Forget is called when the recommender did not understand the request: the resume token is the one thing in it that the
	// next attempt can do without.
	Forget func()
}

// Run receives until ctx ends.
func (s Stream[E]) Run(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = firstBackoff, maxBackoff
	for {
		received, err := s.follow(ctx)
		if ctx.Err() != nil {
			return // it is this process that stops
		}
		s.Lost(err)
		if received {
			retry.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retry.NextBackOff()):
		}
	}
}

// follow reads one stream to its end, which always has a cause. received: at least one batch came whole.
func (s Stream[E]) follow(ctx context.Context) (received bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(fmt.Errorf("nothing came for %s", maxSilence)) })
	defer silence.Stop()

	stream, err := s.Open(ctx)
	for err == nil {
		var event E
		if event, err = stream.Recv(); err != nil {
			break
		}
		silence.Reset(maxSilence)
		var whole bool
		whole, err = s.Take(event)
		received = received || whole
	}
	switch {
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF):
		err = errors.New("the recommender ended the stream")
	case status.Code(err) == codes.InvalidArgument:
		s.Forget()
	}
	return received, err
}
