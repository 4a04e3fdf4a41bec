// Package database queries ClickHouse over HTTP.
package database

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/records"
)

//go:embed history.sql
var historySQL string

// ClickHouse queries a database as one user, on one server or several replicas. It queries the replica that answered last.
type ClickHouse struct {
	servers    []string
	parameters string
	login      Login
	authority  string
	client     http.Client
	current    atomic.Uint32
	// schemaCurrent is true once CheckSchema found the needed version.
	schemaCurrent atomic.Bool
}

// New does not connect. addresses: http[s]://HOST:PORT, with commas between. authority: PEM file with the authority of the
// servers' certificates; empty: the system's authorities.
func New(addresses, database string, login Login, authority string) (*ClickHouse, error) {
	c := &ClickHouse{
		servers: strings.Split(addresses, ","), parameters: "/?" + url.Values{"database": {database}}.Encode(),
		login: login, authority: authority,
	}
	if authority == "" {
		return c, nil
	}
	text, err := os.ReadFile(authority)
	if err != nil {
		return nil, fmt.Errorf("SLUICE_CLICKHOUSE_CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("SLUICE_CLICKHOUSE_CA: %s holds no certificate", authority)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	c.client.Transport = transport
	return c, nil
}

// row is a row of history.sql.
type row struct {
	Since      int64    `json:"since_ms"`
	Until      int64    `json:"until_ms"`
	Revision   uint64   `json:"revision"`
	State      string   `json:"state"`
	Basis      string   `json:"basis"`
	Action     string   `json:"action"`
	Model      string   `json:"model"`
	Current    *uint32  `json:"current"`
	Target     *uint32  `json:"target"`
	Lower      *uint32  `json:"lower_bound"`
	Upper      *uint32  `json:"upper_bound"`
	Unguarded  *uint32  `json:"unguarded_target"`
	Confidence float64  `json:"confidence"`
	Reasons    []string `json:"reasons"`
}

// Decisions implements calls.History.
func (c *ClickHouse) Decisions(ctx context.Context, pool keys.Pool, before uint64, n int) ([]calls.PastDecision, error) {
	if err := c.CheckSchema(ctx); err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", pool, err)
	}
	body, err := c.read(ctx, historySQL, map[string]string{
		"service": pool.Service, "side": keys.SideName(pool.Side), "peer": pool.Peer,
		"before": strconv.FormatUint(before, 10), "most": strconv.Itoa(n),
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", pool, err)
	}
	var decisions []calls.PastDecision
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", pool, err)
		}
		decisions = append(decisions, calls.PastDecision{
			Since: time.UnixMilli(r.Since), Until: time.UnixMilli(r.Until), Revision: r.Revision,
			State: r.State, Basis: r.Basis, Action: r.Action, Model: r.Model,
			Current: r.Current, Target: r.Target, Lower: r.Lower, Upper: r.Upper, Unguarded: r.Unguarded,
			Confidence: r.Confidence, Reasons: r.Reasons,
		})
	}
	return decisions, lines.Err()
}

const mostResponse = 16 << 20

// serverTime bounds the wait for one server: a server whose host is gone closes no connection.
const serverTime = 30 * time.Second

// read runs a query with its parameters, which are values and never text of the query.
func (c *ClickHouse) read(ctx context.Context, sql string, parameters map[string]string) ([]byte, error) {
	target := "&output_format_json_quote_64bit_integers=0"
	for name, value := range parameters {
		target += "&param_" + name + "=" + url.QueryEscape(escaped(value))
	}
	return c.post(ctx, target, []byte(sql))
}

// post sends a query to the servers, one after the other, until one answers: every query may be repeated. parameters: further
// URL parameters. The next query begins with the next server when no answer came in the caller's time.
func (c *ClickHouse) post(ctx context.Context, parameters string, body []byte) (response []byte, err error) {
	for range c.servers {
		server := c.current.Load()
		response, err = c.postTo(ctx, c.servers[int(server)%len(c.servers)]+c.parameters+parameters, body)
		if err == nil || errors.Is(err, records.ErrRefused) || errors.Is(ctx.Err(), context.Canceled) {
			return response, err
		}
		c.current.CompareAndSwap(server, server+1)
		if ctx.Err() != nil {
			return response, err
		}
	}
	return response, err
}

func (c *ClickHouse) postTo(ctx context.Context, target string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-ClickHouse-User", c.login.User)
	if c.login.Password != "" {
		request.Header.Set("X-ClickHouse-Key", c.login.Password)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask ClickHouse: %w", c.explainTLS(request.URL.Host, withoutAddress(err)))
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, mostResponse))
	if err != nil {
		return nil, fmt.Errorf("ask ClickHouse: %w", err)
	}
	if absenceCodes[response.Header.Get("X-ClickHouse-Exception-Code")] {
		first, _, _ := bytes.Cut(content, []byte("\n"))
		return nil, fmt.Errorf("%w: %.200s", errAbsent, first)
	}
	if response.StatusCode == http.StatusBadRequest {
		first, _, _ := bytes.Cut(content, []byte("\n"))
		return nil, fmt.Errorf("%w: %.200s", records.ErrRefused, first)
	}
	if authenticationCodes[response.Header.Get("X-ClickHouse-Exception-Code")] {
		return nil, fmt.Errorf("ask ClickHouse: %s refuses %w", request.URL.Host, c.login.settings())
	}
	if response.StatusCode != http.StatusOK {
		first, _, _ := bytes.Cut(content, []byte("\n"))
		return nil, fmt.Errorf("ask ClickHouse: %s: %.200s", response.Status, first)
	}
	return content, nil
}
