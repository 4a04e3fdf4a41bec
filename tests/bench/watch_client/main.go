// Command watch_client opens many watches of a server and says when each heard of a change.
//
// On its standard input it takes words, a line each, and answers each with a line of JSON:
//
//	certify FOLDER                                 when cert.pem and key.pem are in it, for a server on this machine: {}
//	open ADDRESS WATCHERS CONNECTIONS [AUTHORITY]  when all have their first state: {"seconds": of the opening}. AUTHORITY: a
//	                                               PEM file, who signed the server's certificate
//	hear                                           when all wait for the next change: {}
//	times                                          when all have heard of it: {"at_ns": [CLOCK_MONOTONIC of each]}
//	resume                                         when all, whose watches ended, are where they were: {"seconds": since the
//	                                               first of them was, "whole": how many were sent everything}
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// clients are all watches.
type clients struct {
	watchers []*watcher
	links    []*link
	phase    *phase
	broken   sync.WaitGroup
}

func (c *clients) open(address string, watchers, connections int, secure *tls.Config) (seconds float64) {
	c.links = make([]*link, connections)
	for i := range c.links {
		c.links[i] = &link{address: address, secure: secure}
	}
	for i := range watchers {
		w := &watcher{}
		c.watchers = append(c.watchers, w)
		l := c.links[i%connections]
		l.watchers = append(l.watchers, w)
	}
	began := monotonic()
	p := begin(c.watchers, true)
	for _, l := range c.links {
		check(l.open())
		c.broken.Go(func() {
			if err := l.read(); l.waits() {
				fail(fmt.Errorf("a watch ended: %w", err))
			}
		})
	}
	p.wait()
	return float64(monotonic()-began) / 1e9
}

func (c *clients) resume() (seconds float64, whole int) {
	c.broken.Wait()
	p := begin(c.watchers, false)
	for _, l := range c.links {
		c.broken.Go(func() {
			for l.waits() { // the first try may come to a server that is too busy
				l.again()
				_ = l.read()
			}
		})
	}
	return p.wait(), p.whole
}

func (c *clients) times() []int64 {
	c.phase.wait()
	times := make([]int64, len(c.watchers))
	for i, w := range c.watchers {
		times[i] = w.at
	}
	return times
}

// trusting is TLS with an authority for the host of an address.
func trusting(path, address string) *tls.Config {
	content, err := os.ReadFile(path)
	check(err)
	host, _, err := net.SplitHostPort(address)
	check(err)
	config := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: host, NextProtos: []string{"h2"}}
	config.RootCAs.AppendCertsFromPEM(content)
	return config
}

func main() {
	lines, answers := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	c := &clients{}
	for lines.Scan() {
		answer, words := map[string]any{}, strings.Fields(lines.Text())
		switch {
		case len(words) == 2 && words[0] == "certify":
			certify(words[1])
		case len(words) >= 4 && words[0] == "open":
			watchers, err := strconv.Atoi(words[2])
			check(err)
			connections, err := strconv.Atoi(words[3])
			check(err)
			var secure *tls.Config
			if len(words) == 5 {
				secure = trusting(words[4], words[1])
			}
			answer["seconds"] = c.open(words[1], watchers, connections, secure)
		case lines.Text() == "hear":
			c.phase = begin(c.watchers, true)
		case lines.Text() == "times":
			answer["at_ns"] = c.times()
		case lines.Text() == "resume":
			answer["seconds"], answer["whole"] = c.resume()
		default:
			fail(fmt.Errorf("%q: not a word", lines.Text()))
		}
		check(answers.Encode(answer))
	}
}

func check(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "watch_client:", err)
	os.Exit(1)
}
