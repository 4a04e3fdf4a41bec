// Command watch_client opens many watches of a recommender and says when each heard of a change.
//
// On its standard input it takes words, a line each, and answers each with a line of JSON:
//
//	open ADDRESS WATCHERS CONNECTIONS   when all have their first state: {"seconds": of the opening}
//	hear                                when all wait for the next change: {}
//	times                               when all have heard of it: {"at_ns": [CLOCK_MONOTONIC of each]}
//	close                               all watches are cancelled: {}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	poolsv1 "sluice.dev/api/pools/v1"
)

// window of each stream and connection. One that is not given is estimated by a ping with every message that comes, which
// is most of what a watch costs both sides.
const window = 64 << 10

type watcher struct {
	stream poolsv1.PoolSizeService_WatchPoolSizesClient
	at     int64
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
		if event.GetResumeToken() != "" && w.at != 0 {
			return nil
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
			grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window))
		if err != nil {
			fail(err)
		}
		links[i] = link
	}
	all := make([]*watcher, watchers)
	for i := range all {
		client := poolsv1.NewPoolSizeServiceClient(links[i%connections])
		stream, err := client.WatchPoolSizes(ctx, &poolsv1.WatchPoolSizesRequest{Service: "cart"}, grpc.WaitForReady(true))
		if err != nil {
			fail(err)
		}
		all[i] = &watcher{stream: stream}
	}
	each(all).Wait()
	return all, links
}

func main() {
	words, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	var (
		watchers []*watcher
		links    []*grpc.ClientConn
		hearing  *sync.WaitGroup
		cancel   context.CancelFunc
	)
	for words.Scan() {
		answer := map[string]any{}
		var address string
		var count, connections int
		if n, _ := fmt.Sscanf(words.Text(), "open %s %d %d", &address, &count, &connections); n == 3 {
			var ctx context.Context
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
