// Command xds_client is many nodes of xDS, each with a stream of its own that follows the endpoints of one service, state of
// the world, and acknowledges what it is sent.
//
// On its standard input it takes words, a line each, and answers each with a line of JSON:
//
//	open ADDRESS NODES CONNECTIONS UPSTREAM SERVICE  when all have endpoints: {"seconds": of the opening}
//	hear NODES                                       when so many of the first nodes wait for what is next: {}
//	times                                            when they have it: {"at_ns": [CLOCK_MONOTONIC of each], "others": how many
//	                                                 responses came to all others meanwhile, "broken": how many streams
//	                                                 ended since the first word}
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

const endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"

// node is one; at is when it was sent something last.
type node struct {
	at    atomic.Int64
	waits atomic.Bool
}

type nodes struct {
	all    []*node
	heard  sync.WaitGroup
	hears  int
	others atomic.Int64
	broken atomic.Int64
}

func (n *nodes) open(address string, count, connections int, upstream, service string) (seconds float64) {
	links := make([]discovery.AggregatedDiscoveryServiceClient, connections)
	for i := range links {
		// 10,000 connections with buffers of 64 kB would be another measurement: that of the client.
		link, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithReadBufferSize(2<<10), grpc.WithWriteBufferSize(2<<10), grpc.WithSharedWriteBuffer(true))
		check(err)
		links[i] = discovery.NewAggregatedDiscoveryServiceClient(link)
	}
	began := monotonic()
	n.all = make([]*node, count)
	n.heard.Add(count)
	for i := range n.all {
		n.all[i] = &node{}
		n.all[i].waits.Store(true)
		go n.follow(n.all[i], links[i%connections], fmt.Sprintf("%s~%s-%d", upstream, upstream, i), service)
	}
	n.heard.Wait()
	return float64(monotonic()-began) / 1e9
}

// follow goes on with what it has where its stream ends, as clients do.
func (n *nodes) follow(one *node, link discovery.AggregatedDiscoveryServiceClient, id, service string) {
	version := ""
	for {
		stream, err := link.StreamAggregatedResources(context.Background(), grpc.WaitForReady(true))
		ask := &discovery.DiscoveryRequest{
			Node: &core.Node{Id: id}, TypeUrl: endpointType, ResourceNames: []string{service}, VersionInfo: version,
		}
		for err == nil {
			var response *discovery.DiscoveryResponse
			if err = stream.Send(ask); err != nil {
				break
			}
			if response, err = stream.Recv(); err != nil {
				break
			}
			one.at.Store(monotonic())
			if one.waits.Swap(false) {
				n.heard.Done()
			} else {
				n.others.Add(1)
			}
			version = response.GetVersionInfo()
			ask = &discovery.DiscoveryRequest{
				TypeUrl: endpointType, ResourceNames: []string{service}, VersionInfo: version, ResponseNonce: response.GetNonce(),
			}
		}
		n.broken.Add(1)
		time.Sleep(100 * time.Millisecond)
	}
}

func (n *nodes) hear(count int) {
	n.hears = count
	n.others.Store(0)
	n.heard.Add(count)
	for _, one := range n.all[:count] {
		one.waits.Store(true)
	}
}

func (n *nodes) times() []int64 {
	n.heard.Wait()
	times := make([]int64, n.hears)
	for i := range times {
		times[i] = n.all[i].at.Load()
	}
	return times
}

func main() {
	lines, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	n := &nodes{}
	for lines.Scan() {
		answer := map[string]any{}
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "open":
			var address, upstream, service string
			var count, connections int
			_, err := fmt.Sscan(rest, &address, &count, &connections, &upstream, &service)
			check(err)
			answer["seconds"] = n.open(address, count, connections, upstream, service)
		case "hear":
			var count int
			_, err := fmt.Sscan(rest, &count)
			check(err)
			n.hear(count)
		case "times":
			answer["at_ns"] = n.times()
			answer["others"], answer["broken"] = n.others.Load(), n.broken.Load()
		default:
			check(fmt.Errorf("%q: not a word", lines.Text()))
		}
		check(answers.Encode(answer))
	}
}

func monotonic() int64 {
	var now unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "xds_client:", err)
		os.Exit(1)
	}
}
