// Command watch_client opens many watches of a recommender and says when each heard of a change.
//
// On its standard input it takes words, a line each, and answers each with a line of JSON:
//
//	open ADDRESS WATCHERS CONNECTIONS   when all have their first state: {"seconds": of the opening}
//	hear                                when all wait for the next change: {}
//	times                               when all have heard of it: {"at_ns": [CLOCK_MONOTONIC of each]}
//	resume                              when all, whose watches ended, are where they were: {"seconds": since the first
//	                                    of them was, "whole": how many were sent everything}
//	close                               all watches are cancelled: {}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	poolsv1 "sluice.dev/api/pools/v1"
)

// window of each stream and connection. One that is not given is estimated by a ping with every message that comes, which
// is most of what a watch costs both sides.
const window = 64 << 10

// again: all of them come back within a second or two of a restart, which is the worst that they can do.
var again = backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.5, MaxDelay: time.Second}

type watcher struct {
	client poolsv1.PoolSizeServiceClient
	stream poolsv1.PoolSizeService_WatchPoolSizesClient
	at     int64
	token  string
}

func (w *watcher) watch(ctx context.Context) (err error) {
	request := &poolsv1.WatchPoolSizesRequest{Service: "cart", ResumeToken: w.token}
	w.stream, err = w.client.WatchPoolSizes(ctx, request, grpc.WaitForReady(true))
	return err
}

// resume watches again from where the watch ended, as soon as a server takes it. whole: it was sent everything.
func (w *watcher) resume(ctx context.Context) (whole bool, err error) {
	for {
		if err := w.watch(ctx); err != nil {
			return false, err
		}
		for err == nil {
			var event *poolsv1.WatchPoolSizesResponse
			if event, err = w.stream.Recv(); err == nil && event.GetResumeToken() != "" {
				w.token = event.GetResumeToken()
				return event.GetSnapshot() != nil, nil
			}
		}
		if status.Code(err) != codes.Unavailable {
			return false, err
		}
		err = nil
		time.Sleep(50 * time.Millisecond) // it has not read the log yet
	}
}

// batch reads to the end of the next one that has an answer; at: when its first answer was there.
func (w *watcher) batch() error {
	w.at = 0
	for {
		event, err := w.stream.Recv()
		if err != nil {
			return err
		}
		if event.GetPoolSize() != nil && w.at == 0 {
			w.at = monotonic()
		}
		if event.GetResumeToken() != "" {
			w.token = event.GetResumeToken()
			if w.at != 0 {
				return nil
			}
		}
	}
}

func monotonic() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		fail(err)
	}
	return now.Nano()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "watch_client:", err)
	os.Exit(1)
}

// each runs batch for every watcher at once, and returns what to wait with.
func each(watchers []*watcher) *sync.WaitGroup {
	var all sync.WaitGroup
	for _, w := range watchers {
		all.Go(func() {
			if err := w.batch(); err != nil {
				fail(err)
			}
		})
	}
	return &all
}

func open(ctx context.Context, address string, watchers, connections int) ([]*watcher, []*grpc.ClientConn) {
	links := make([]*grpc.ClientConn, connections)
	for i := range links {
		link, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: 20 * time.Second}))
		if err != nil {
			fail(err)
		}
		links[i] = link
	}
	all := make([]*watcher, watchers)
	for i := range all {
		all[i] = &watcher{client: poolsv1.NewPoolSizeServiceClient(links[i%connections])}
		if err := all[i].watch(ctx); err != nil {
			fail(err)
		}
	}
	each(all).Wait()
	return all, links
}

// resumeAll is when the last of them is where it was, since when the first was, and how many were sent everything.
func resumeAll(ctx context.Context, watchers []*watcher) (seconds float64, whole int64) {
	var all sync.WaitGroup
	var first, sent atomic.Int64
	for _, w := range watchers {
		all.Go(func() {
			everything, err := w.resume(ctx)
			if err != nil {
				fail(err)
			}
			first.CompareAndSwap(0, monotonic())
			if everything {
				sent.Add(1)
			}
		})
	}
	all.Wait()
	return float64(monotonic()-first.Load()) / 1e9, sent.Load()
}

func main() {
	words, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	var (
		watchers []*watcher
		links    []*grpc.ClientConn
		hearing  *sync.WaitGroup
		ctx      context.Context
		cancel   context.CancelFunc
	)
	for words.Scan() {
		answer := map[string]any{}
		var address string
		var count, connections int
		if n, _ := fmt.Sscanf(words.Text(), "open %s %d %d", &address, &count, &connections); n == 3 {
			ctx, cancel = context.WithCancel(context.Background())
			began := time.Now()
			watchers, links = open(ctx, address, count, connections)
			answer["seconds"] = time.Since(began).Seconds()
		} else if words.Text() == "hear" {
			hearing = each(watchers)
		} else if words.Text() == "times" {
			hearing.Wait()
			times := make([]int64, len(watchers))
			for i, w := range watchers {
				times[i] = w.at
			}
			answer["at_ns"] = times
		} else if words.Text() == "resume" {
			answer["seconds"], answer["whole"] = resumeAll(ctx, watchers)
		} else if words.Text() == "close" {
			cancel()
			for _, link := range links {
				link.Close()
			}
		} else {
			fail(fmt.Errorf("%q: not a word", words.Text()))
		}
		if err := answers.Encode(answer); err != nil {
			fail(err)
		}
	}
}
