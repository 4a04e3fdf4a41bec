// Command sluice-server serves the deciders' publications from the journal.
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

	"sluice.dev/serve/internal/health"
)

// version is set by -ldflags "-X main.version=...".
var version = ""

const usage = `sluice-server serves the deciders' publications. It reads them from the journal, which is topics of Kafka.

It reads sluice_decisions and sluice_explanations to their end, and answers sluice.pools.v1, sluice.subsets.v1 and
sluice.tuning.v1 from memory. It has no state of its own: any number of servers may run, each answers any call, and
each accepts the resume tokens of all others. It writes reports, pauses and scaling events into the journal. Envoy and
gRPC clients also get subsets by xDS (ADS, v3), as nodes with the id SERVICE~INSTANCE.

With the argument records it serves no calls: it writes decisions and reports from the journal into ClickHouse's tables.

Usage: sluice-server [records] [--check]
       sluice-server health: exits with 0 when the server or records on SLUICE_HEALTH is ready, else prints the causes

  --check          print the settings that the environment gives, and exit
  --version        print the version and exit
  --help           print this text and exit

Examples:
  sluice-server --check
  SLUICE_HEALTH=127.0.0.1:8093 sluice-server
  SLUICE_HEALTH=127.0.0.1:8093 sluice-server health

Environment, or lines NAME=VALUE of the file SLUICE_SETTINGS; the environment wins, and other names in the file are errors:
  SLUICE_RECOMMENDER       the listen address (127.0.0.1:50051); off loopback only with TLS and tokens or certificates
  SLUICE_INSECURE          true: off loopback also without them, where a mesh or a network policy protects the server (false)
  SLUICE_KAFKA             brokers, with commas between (127.0.0.1:9092)
  SLUICE_KAFKA_PROPERTIES  file with TLS and SASL, one NAME=VALUE a line, by librdkafka's names: security.protocol,
                           sasl.mechanism, sasl.username, sasl.password, ssl.ca.location, ssl.certificate.location,
                           ssl.key.location, ssl.endpoint.identification.algorithm, client.rack
  SLUICE_SHARDS            number of shards of the journal (1); the server refuses a topic with another number of partitions
  SLUICE_TOPIC_PREFIX      prefix of the names of the journal's topics (sluice_)
  SLUICE_CLICKHOUSE        for history and records (http://127.0.0.1:8123); several replicas with commas between: after
                           a failure the server uses the next one
  SLUICE_CLICKHOUSE_USER   (default): the user that writes records
  SLUICE_CLICKHOUSE_PASSWORD_FILE  file with that user's password. A password in a variable is an error
  SLUICE_CLICKHOUSE_DATABASE  (sluice)
  SLUICE_CLICKHOUSE_READER    (sluice_reader): the user that reads history
  SLUICE_CLICKHOUSE_READER_PASSWORD_FILE  file with that user's password
  SLUICE_CLICKHOUSE_CA     PEM file with the authority of the servers' certificates
  SLUICE_HEALTH            address of /livez, /readyz, /metrics, and of grpc.health.v1 without TLS; empty: none
  SLUICE_HEALTH_EXPOSE     true: SLUICE_HEALTH may be an address that other machines reach (false)
  SLUICE_DRAIN             how long calls and writes of rows may go on after SIGTERM, 0s to 300s (5s)
  SLUICE_CONNECTIONS       most connections at once, 1 to 1000000; the next is closed at once (20000)
  SLUICE_XDS_POOLS         client pools, SERVICE/client/PEER with commas between, whose size an Envoy gets as
                           max_connections of the cluster PEER (none)
  SLUICE_XDS_OUTLIER_DETECTION  outlier detection of all clusters of CDS, as JSON with Envoy's names:
                           {"consecutive_5xx": 5, "max_ejection_percent": 50} (none)
  SLUICE_XDS_CLUSTERS      further fields of clusters of CDS by service, or * for all, as JSON with Envoy's names: TLS, HTTP/2,
                           panic threshold. {"*": {"common_lb_config": {"healthy_panic_threshold": {"value": 1}}}} (none)
  SLUICE_XDS_LOCALITIES    what localities of endpoints stand for: container, or zone for Envoys (container)
  SLUICE_EXTERNAL_METRICS  address of external.metrics.k8s.io for the API server of Kubernetes, by TLS; empty: none
  SLUICE_EXTERNAL_METRICS_CA  PEM file with the authority of the API server's certificate as a proxy; needed off loopback
  SLUICE_TLS_CERT, SLUICE_TLS_KEY  PEM files
  SLUICE_TLS_CLIENT_CA     PEM file with the authority of callers' certificates
  SLUICE_CLIENTS           file with one certificate a line: NAME ROLE,...; without it they may read and report
  SLUICE_TOKENS            file with one token a line: TOKEN [NAME [ROLE,...]]; roles: read, report, operate; none: all
  OTEL_EXPORTER_OTLP_ENDPOINT  also sends the metrics by OTLP, as all OTEL_EXPORTER_OTLP_* variables set
  GOMEMLIMIT               (environment only) the memory limit of the Go runtime; by default 90 % of the container's

The server reads files of certificates, keys, tokens and clients again when they change.

Exit status: 0 done, 1 failed, 2 wrong use or configuration.
SIGTERM or SIGINT: /readyz turns 503, watches end, calls and writes of rows end within SLUICE_DRAIN, exit 0.
`

func main() { os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

func run(arguments []string, lookup func(string) string, out, errs io.Writer) int {
	if len(arguments) == 1 && arguments[0] == "health" {
		if err := health.Ask(lookup); err != nil {
			fmt.Fprintf(errs, "sluice-server: %v\n", err)
			return 1
		}
		return 0
	}
	flags := flag.NewFlagSet("sluice-server", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	check := flags.Bool("check", false, "")
	showVersion := flags.Bool("version", false, "")
	command := serve
	if len(arguments) > 0 && arguments[0] == "records" {
		command, arguments = record, arguments[1:]
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
	case *showVersion:
		fmt.Fprintln(out, "sluice-server", buildVersion())
		return 0
	}
	var s settings
	if lookup, err = withFile(lookup); err == nil {
		s, err = settingsOf(lookup)
	}
	if err != nil {
		fmt.Fprintf(errs, "sluice-server: %v\n", err)
		return 2
	}
	if *check {
		fmt.Fprintf(out, "valid: %v\n", s)
		return 0
	}
	s.memory = limitMemory()
	if lookup("GOGC") == "" {
		// Silent watchers hold most of the memory and make little garbage: the heap need not double before a collection.
		debug.SetGCPercent(50)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := command(ctx, s, errs); err != nil {
		fmt.Fprintf(errs, "sluice-server: %v\n", err)
		return 1
	}
	return 0
}

// buildVersion returns version, else the revision that the toolchain recorded.
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
