// Command probe is the health check of an image without a shell: it exits with 0 when a page answers 200.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// limit bounds one check; docker's own limit is longer, so that the reason is printed.
const limit = 2 * time.Second

const usage = "usage: probe VARIABLE HOST:PORT PATH; VARIABLE of the environment overrides HOST:PORT"

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	address := os.Getenv(os.Args[1])
	if address == "" {
		address = os.Args[2]
	}
	if err := check(address, os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

// check asks for one page. It writes the request itself: package net/http is three quarters of a program this small.
func check(address, path string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), limit)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(connection, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n", path, address); err != nil {
		return err
	}
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", address, err)
	}
	if fields := strings.Fields(line); len(fields) < 2 || fields[1] != "200" {
		return fmt.Errorf("%s%s answers %q; healthy: 200", address, path, strings.TrimSpace(line))
	}
	return nil
}
