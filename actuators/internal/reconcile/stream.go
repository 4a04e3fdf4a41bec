package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxSilence is two and a half of the recommender's heartbeats, which come every 10 s whatever it computes.
const maxSilence = 25 * time.Second

// Receiver is one stream of events, until its error.
type Receiver[E any] interface{ Recv() (E, error) }

// Stream is a watch without an end. It opens a stream again that breaks, or that is silent for 25 s, after a pause that grows
// from 0.5 s to 10 s. Each pause varies by half of itself, so that the actuators of a restarted recommender do not all come
// back at once.
type Stream[E any] struct {
	// Open requests the events since the last complete batch.
	Open func(ctx context.Context) (Receiver[E], error)
	// Take processes one event. whole: it ended a batch.
	Take func(E) (whole bool, err error)
	// Lost receives the reason of a lost stream.
	Lost func(error)
	// Forget is called when the recommender did not understand the request: the next attempt goes without the resume token.
	Forget func()
}

// Run receives until ctx ends.
func (s Stream[E]) Run(ctx context.Context) {
	retry := Pauses()
	for {
		received, err := s.follow(ctx)
		if ctx.Err() != nil {
			return // this process has to stop
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

// follow reads one stream to its end, which always has a cause. received: at least one complete batch came.
func (s Stream[E]) follow(ctx context.Context) (received bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(fmt.Errorf("no event for %s", maxSilence)) })
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
