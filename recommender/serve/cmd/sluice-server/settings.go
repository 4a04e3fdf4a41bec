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
	"sluice.dev/serve/internal/topics"
	"sluice.dev/serve/internal/xds"
)

// mostShards bounds a resume token: 4 kB.
const mostShards = 256

// settings are the values of the environment.
type settings struct {
	address, metrics                                     string
	log                                                  topics.Log
	clickhouse, clickhouseDatabase, user, readerPassword string
	clickhouseCA                                         string
	writer, writerPassword                               string
	access                                               *access.Access
	otlp                                                 bool
	bounds                                               xds.Bounds
	external                                             externally
}

func (s settings) String() string {
	return fmt.Sprintf("%s, %s, %d shards on %s", s.address, s.access, s.log.Shards, strings.Join(s.log.Brokers, ","))
}

func settingsOf(lookup func(string) string) (settings, error) {
	or := func(name, usual string) string {
		if value := lookup(name); value != "" {
			return value
		}
		return usual
	}
	s := settings{
		address: or("SLUICE_RECOMMENDER", "127.0.0.1:50051"), metrics: lookup("SLUICE_METRICS"),
		clickhouse:         or("SLUICE_CLICKHOUSE", "http://127.0.0.1:8123"),
		clickhouseDatabase: or("SLUICE_CLICKHOUSE_DATABASE", "sluice"), clickhouseCA: lookup("SLUICE_CLICKHOUSE_CA"),
		user: or("SLUICE_CLICKHOUSE_READER", "sluice_reader"), writer: or("SLUICE_CLICKHOUSE_USER", "default"),
		otlp: lookup("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || lookup("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != "",
	}
	var err error
	if s.readerPassword, err = secret(lookup, "SLUICE_CLICKHOUSE_READER_PASSWORD"); err != nil {
		return s, err
	}
	if s.writerPassword, err = secret(lookup, "SLUICE_CLICKHOUSE_PASSWORD"); err != nil {
		return s, err
	}
	shards, err := strconv.Atoi(or("SLUICE_SHARDS", "1"))
	if err != nil || shards < 1 || shards > mostShards {
		return s, fmt.Errorf("SLUICE_SHARDS %q is not legal; legal: 1 to %d", lookup("SLUICE_SHARDS"), mostShards)
	}
	if s.log, err = logOf(lookup, or, shards); err != nil {
		return s, err
	}
	if address(s.address) != nil {
		return s, fmt.Errorf("SLUICE_RECOMMENDER %q is not legal; legal: HOST:PORT", s.address)
	}
	for _, each := range strings.Split(s.clickhouse, ",") {
		if at, err := url.Parse(each); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return s, fmt.Errorf("SLUICE_CLICKHOUSE %q is not legal; legal: http://HOST:PORT, with commas between", s.clickhouse)
		}
	}
	if s.metrics != "" && (address(s.metrics) != nil || !access.Loopback(s.metrics)) {
		return s, fmt.Errorf("SLUICE_METRICS %q is not legal; legal: a loopback address, as 127.0.0.1:9464, because /metrics has no authentication", s.metrics)
	}
	if s.bounds, err = xds.ParseBounds(lookup("SLUICE_XDS_POOLS")); err != nil {
		return s, fmt.Errorf("SLUICE_XDS_POOLS: %w; legal: SERVICE/client/PEER, with commas between", err)
	}
	if s.access, err = access.Open(lookup); err != nil {
		return s, err
	}
	if s.external, err = externallyOf(lookup, s.access); err != nil {
		return s, err
	}
	return s, s.access.Demand(s.address)
}

// secret returns the content of the file that NAME_FILE names, else the variable NAME.
func secret(lookup func(string) string, name string) (string, error) {
	path := lookup(name + "_FILE")
	if path == "" {
		return lookup(name), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

func logOf(lookup func(string) string, or func(name, usual string) string, shards int) (topics.Log, error) {
	var told brokers.Settings
	if path := lookup("SLUICE_KAFKA_SETTINGS"); path != "" {
		var err error
		if told, err = brokers.Load(path, lookup); err != nil {
			return topics.Log{}, err
		}
	}
	seeds := told.Brokers
	if len(seeds) == 0 {
		seeds = strings.Split(or("SLUICE_KAFKA", "127.0.0.1:9092"), ",")
	}
	for _, each := range seeds {
		if err := address(each); err != nil {
			return topics.Log{}, fmt.Errorf("SLUICE_KAFKA holds %q, which is not legal; legal: HOST:PORT, with commas between", each)
		}
	}
	log := topics.Named(seeds, shards, or("SLUICE_TOPIC_PREFIX", "sluice_"))
	log.Options = told.Options
	log.Decisions = told.Topic("sluice_decisions", log.Decisions)
	log.Explanations = told.Topic("sluice_explanations", log.Explanations)
	log.Observed = told.Topic("sluice_observed", log.Observed)
	log.Reports = told.Topic("sluice_reports", log.Reports)
	return log, nil
}

func address(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return err
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err
}
