package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/brokers"
	"sluice.dev/serve/internal/health"
	"sluice.dev/serve/internal/server"
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/xds"
)

// mostShards bounds a resume token: 4 kB.
const mostShards = 256

// mostConnections is some 16 GB of them.
const mostConnections = 1_000_000

// settings are the values of the environment.
type settings struct {
	address, health                                      string
	limits                                               server.Limits
	memory                                               string
	journal                                              topics.Journal
	clickhouse, clickhouseDatabase, user, readerPassword string
	clickhouseCA                                         string
	writer, writerPassword                               string
	access                                               *access.Access
	otlp                                                 bool
	xds                                                  xds.Settings
	external                                             externalListener
}

func (s settings) String() string {
	return fmt.Sprintf("%s, %s, %d shards on %s", s.address, s.access, s.journal.Shards, strings.Join(s.journal.Brokers, ","))
}

func settingsOf(lookup func(string) string) (settings, error) {
	lookupOr := func(name, fallback string) string {
		if value := lookup(name); value != "" {
			return value
		}
		return fallback
	}
	s := settings{
		address:            lookupOr("SLUICE_RECOMMENDER", "127.0.0.1:50051"),
		clickhouse:         lookupOr("SLUICE_CLICKHOUSE", "http://127.0.0.1:8123"),
		clickhouseDatabase: lookupOr("SLUICE_CLICKHOUSE_DATABASE", "sluice"), clickhouseCA: lookup("SLUICE_CLICKHOUSE_CA"),
		user: lookupOr("SLUICE_CLICKHOUSE_READER", "sluice_reader"), writer: lookupOr("SLUICE_CLICKHOUSE_USER", "default"),
		otlp: lookup("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || lookup("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != "",
	}
	var err error
	if s.readerPassword, err = secret(lookup, "SLUICE_CLICKHOUSE_READER_PASSWORD"); err != nil {
		return s, err
	}
	if s.writerPassword, err = secret(lookup, "SLUICE_CLICKHOUSE_PASSWORD"); err != nil {
		return s, err
	}
	if s.health, err = health.Address(lookup); err != nil {
		return s, err
	}
	if s.limits.Drain, err = drainOf(lookup("SLUICE_DRAIN")); err != nil {
		return s, err
	}
	s.limits.Connections, err = strconv.Atoi(lookupOr("SLUICE_CONNECTIONS", "20000"))
	if err != nil || s.limits.Connections < 1 || s.limits.Connections > mostConnections {
		return s, fmt.Errorf("SLUICE_CONNECTIONS %q is not legal; legal: 1 to %d", lookup("SLUICE_CONNECTIONS"), mostConnections)
	}
	shards, err := strconv.Atoi(lookupOr("SLUICE_SHARDS", "1"))
	if err != nil || shards < 1 || shards > mostShards {
		return s, fmt.Errorf("SLUICE_SHARDS %q is not legal; legal: 1 to %d", lookup("SLUICE_SHARDS"), mostShards)
	}
	if s.journal, err = journalOf(lookup, lookupOr, shards); err != nil {
		return s, err
	}
	if address(s.address) != nil {
		return s, fmt.Errorf("SLUICE_RECOMMENDER %q is not legal; legal: HOST:PORT", s.address)
	}
	for _, replica := range strings.Split(s.clickhouse, ",") {
		if parsed, err := url.Parse(replica); err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
			return s, fmt.Errorf("SLUICE_CLICKHOUSE %q is not legal; legal: http://HOST:PORT, with commas between", s.clickhouse)
		}
	}
	if s.xds.SizedPools, err = xds.ParseSizedPools(lookup("SLUICE_XDS_POOLS")); err != nil {
		return s, fmt.Errorf("SLUICE_XDS_POOLS: %w; legal: SERVICE/client/PEER, with commas between", err)
	}
	if s.xds.OutlierDetection, err = xds.ParseOutlierDetection(lookup("SLUICE_XDS_OUTLIER_DETECTION")); err != nil {
		return s, fmt.Errorf("SLUICE_XDS_OUTLIER_DETECTION: %w; legal: envoy.config.cluster.v3.OutlierDetection in JSON", err)
	}
	if s.xds.Clusters, err = xds.ParseClusterSettings(lookup("SLUICE_XDS_CLUSTERS")); err != nil {
		return s, fmt.Errorf("SLUICE_XDS_CLUSTERS: %w", err)
	}
	if s.xds.Localities, err = xds.ParseLocalities(lookup("SLUICE_XDS_LOCALITIES")); err != nil {
		return s, fmt.Errorf("SLUICE_XDS_LOCALITIES: %w", err)
	}
	if s.access, err = access.Open(lookup); err != nil {
		return s, err
	}
	if s.external, err = externalListenerOf(lookup, s.access); err != nil {
		return s, err
	}
	return s, s.access.CheckAddress(s.address)
}

// secret returns the content of the file that NAME_FILE names; empty: there is none. The variable NAME is refused.
func secret(lookup func(string) string, name string) (string, error) {
	if lookup(name) != "" {
		return "", fmt.Errorf("%s is not legal: this process reads passwords from files only; legal: %s_FILE, the path of a file with the password", name, name)
	}
	path := lookup(name + "_FILE")
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

func journalOf(lookup func(string) string, lookupOr func(name, fallback string) string, shards int) (topics.Journal, error) {
	seeds := strings.Split(lookupOr("SLUICE_KAFKA", "127.0.0.1:9092"), ",")
	for _, broker := range seeds {
		if err := address(broker); err != nil {
			return topics.Journal{}, fmt.Errorf("SLUICE_KAFKA holds %q, which is not legal; legal: HOST:PORT, with commas between", broker)
		}
	}
	journal := topics.JournalOf(seeds, shards, lookupOr("SLUICE_TOPIC_PREFIX", "sluice_"))
	if path := lookup("SLUICE_KAFKA_PROPERTIES"); path != "" {
		var err error
		if journal.Options, err = brokers.Load(path); err != nil {
			return topics.Journal{}, fmt.Errorf("SLUICE_KAFKA_PROPERTIES: %w", err)
		}
	}
	return journal, nil
}

func address(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return err
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err
}
