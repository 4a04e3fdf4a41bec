package health

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// askTime bounds one question: container runtimes ask every few seconds.
const askTime = 3 * time.Second

// Ask returns nil when the process that listens on SLUICE_HEALTH is ready, else its causes. It is the health check of images, which
// have no other program.
func Ask(lookup func(string) string) error {
	address := lookup(addressVariable)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s %q is not legal; legal: HOST:PORT", addressVariable, address)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	client := http.Client{Timeout: askTime, Transport: &http.Transport{}} // no proxy
	answer, err := client.Get("http://" + net.JoinHostPort(host, port) + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	causes, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	return errors.New(strings.TrimSpace(string(causes)))
}
