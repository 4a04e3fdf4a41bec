package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
)

// A write that is under way at SIGTERM is finished, read back and reported; meanwhile the process is live and not ready.
func TestTheWriteUnderWayIsFinishedAndReported(t *testing.T) {
	r := recommendertest.Start(t)
	r.Recommend(cartThreads, 32, 7)
	shop, shopURL := startShop(t)
	target, err := url.Parse(shopURL)
	if err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	toShop := httputil.NewSingleHostReverseProxy(target)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method == http.MethodPut {
			close(begun) // a second write panics: none may begin
			<-goOn
		}
		toShop.ServeHTTP(w, request)
	}))
	defer slow.Close()
	file, _ := kept(t, "quiet_hours: []")
	patient := strings.Replace(files.Read(t, file), "    http:\n", "    http:\n      timeout: 1m\n", 1)
	files.Write(t, file, "shutdown_grace: 5m\n"+patient)
	p := with(command(t, r, slow.URL), file)
	p.start(t)
	<-begun
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not ready", func() bool {
		code, text := p.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "draining")
	})
	if code, text := p.get("/livez"); code != http.StatusOK {
		t.Errorf("livez %d %s", code, text)
	}
	close(goOn)
	if err := p.command.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &p.errs)
	}
	if got := shop.written(); got != "[cart.threads=32]" {
		t.Errorf("wrote %s", got)
	}
	if report := r.Find("cart.threads", applied); report.GetReadBack() != 32 || report.GetPrevious() != 64 {
		t.Errorf("report %v", report)
	}
}

func TestATokenInTheEnvironmentIsRefused(t *testing.T) {
	r := recommendertest.Start(t)
	_, shopURL := startShop(t)
	p := command(t, r, shopURL)
	p.command.Env = append(p.command.Env, "SLUICE_TOKEN=0123456789abcdef")
	err := p.command.Run()
	if err == nil || !strings.Contains(p.errs.String(), "set SLUICE_TOKEN_FILE") || strings.Contains(p.errs.String(), "0123456789abcdef") {
		t.Errorf("%v\n%s", err, &p.errs)
	}
}
