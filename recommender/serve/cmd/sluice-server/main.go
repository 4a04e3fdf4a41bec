// Command sluice-server serves what deciders write into the log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// version is set by -ldflags "-X main.version=...".
var version = ""

const usage = `sluice-server serves what deciders write into the log.

It reads sluice_decisions and sluice_explanations to their end, and answers sluice.pools.v1, sluice.subsets.v1 and
sluice.tuning.v1 from memory: any number of servers may run, each answers any call, and each takes any other's resume tokens. Reports,
pauses and scaling events go into the log. It has no state of its own. Subsets go to Envoy and gRPC by xDS too (ADS, v3), to
nodes whose id is SERVICE~INSTANCE.

With the word records it serves nobody: it writes decisions and reports from the log into ClickHouse's tables.

Usage: sluice-server [records] [--check]

  --check          say what the environment comes to, and exit
  --version        print the version and exit
  --help           print this text and exit

Environment:
  SLUICE_RECOMMENDER       where it listens (127.0.0.1:50051); off loopback only with TLS and tokens or certificates
  SLUICE_KAFKA             brokers, with commas between (127.0.0.1:9092)
  SLUICE_KAFKA_SETTINGS    TLS, SASL, options and names of topics: a file as collector/kafka.toml; its brokers go before
                           SLUICE_KAFKA
  SLUICE_SHARDS            how many the log has (1); a topic with another number of partitions is refused
  SLUICE_TOPIC_PREFIX      before the names of the log's topics (sluice_)
  SLUICE_CLICKHOUSE        for history (http://127.0.0.1:8123), as sluice_reader with SLUICE_CLICKHOUSE_READER_PASSWORD
  SLUICE_CLICKHOUSE_USER   (default), with SLUICE_CLICKHOUSE_PASSWORD: who writes records
  SLUICE_CLICKHOUSE may be several copies with commas between, of which the next is asked when one fails. Further:
  SLUICE_CLICKHOUSE_DATABASE (sluice), SLUICE_CLICKHOUSE_READER (sluice_reader), SLUICE_CLICKHOUSE_CA (PEM file of who
  signed the servers' certificates). A password may stand in a file, named by the variable with _FILE behind it
  SLUICE_METRICS           where Prometheus reads /metrics, on loopback; empty: nowhere
  SLUICE_XDS_POOLS         client pools, SERVICE/client/PEER with commas between, whose size an Envoy is given as max_connections
                           of the cluster PEER (none)
  SLUICE_EXTERNAL_METRICS  where the API server of Kubernetes asks for external.metrics.k8s.io, by TLS; empty: nowhere
  SLUICE_EXTERNAL_METRICS_CA  PEM file: who signed the API server's certificate as a proxy; needed off loopback
  SLUICE_TLS_CERT, SLUICE_TLS_KEY  PEM files
  SLUICE_TLS_CLIENT_CA     PEM file: who signed callers' certificates
  SLUICE_CLIENTS           file, a line a certificate: NAME ROLE,...; without it they may read and report
  SLUICE_TOKENS            file, a line a token: TOKEN [NAME [ROLE,...]]; roles: read, report, operate; none: all of them
  OTEL_EXPORTER_OTLP_ENDPOINT  sends the metrics by OTLP too, as all OTEL_EXPORTER_OTLP_* variables say

Files of certificates, keys, tokens and clients are read again when they change.

Exit status: 0 done, 1 failed, 2 wrong use or configuration.
SIGTERM or SIGINT: ends watches, lets calls end for 5 s, and exits 0.
`

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

func run(arguments []string, lookup func(string) string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("sluice-server", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	check := flags.Bool("check", false, "")
	said := flags.Bool("version", false, "")
	work := serve
	if len(arguments) > 0 && arguments[0] == "records" {
		work, arguments = record, arguments[1:]
	}
	err := flags.Parse(arguments)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "sluice-server: %v (--help shows what is legal)\n", err)
		return 2
	case *said:
		fmt.Fprintln(out, "sluice-server", buildVersion())
		return 0
	}
	s, err := settingsOf(lookup)
	if err != nil {
		fmt.Fprintf(errs, "sluice-server: %v\n", err)
		return 2
	}
	if *check {
		fmt.Fprintf(out, "valid: %v\n", s)
		return 0
	}
	if lookup("GOGC") == "" {
		// Memory is what each of many silent watchers holds; garbage is little: it may not be as much again.
		debug.SetGCPercent(50)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := work(ctx, s, errs); err != nil {
		fmt.Fprintf(errs, "sluice-server: %v\n", err)
		return 1
	}
	return 0
}

// buildVersion falls back on what the toolchain recorded.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "development"
}
