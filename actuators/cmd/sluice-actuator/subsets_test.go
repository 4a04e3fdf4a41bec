package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/tests/files"
	"sluice.dev/actuators/internal/tests/recommendertest"
	"sluice.dev/actuators/internal/tests/subsetstest"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// publication is the recommender's subset for the one caller of these tests.
func publication(revision uint64, members ...string) *subsetsv1.Subset {
	answer := &subsetsv1.Subset{
		Key:   &subsetsv1.SubsetKey{Upstream: "front", Instance: "front-1", Downstream: "cart"},
		State: subsetsv1.State_STATE_PROVIDED, Revision: revision,
	}
	for i, member := range members {
		e := &subsetsv1.Endpoint{Instance: fmt.Sprint("cart-", i)}
		fmt.Sscan(member, &e.Address, &e.Weight)
		answer.Endpoints = append(answer.Endpoints, e)
	}
	return answer
}

// delivered has each report as `APPLIED 3`, its outcome and revision.
func delivered(r *recommendertest.Server) string {
	var all []string
	for _, delivery := range r.Delivered() {
		all = append(all, fmt.Sprint(strings.TrimPrefix(delivery.GetOutcome().String(), "DELIVERY_OUTCOME_"), " ", delivery.GetRevision()))
	}
	return strings.Join(all, ", ")
}

// subsetConfig is a file with one subset of front-1 in cart, at the place in block.
func subsetConfig(t *testing.T, block string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "actuator.yaml")
	files.Write(t, file, `name: local
status_address: ${SLUICE_ACTUATOR}
recommender: {address: "${SLUICE_RECOMMENDER}", interval: 100ms}
subsets:
  - name: front-cart
    upstream: front
    instance: front-1
    downstream: cart
    cooldown: 0s
    within: [127.0.0.0/8]
    `+block+"\n")
	return file
}

func subsetProcess(t *testing.T, r *recommendertest.Server, file string, arguments ...string) *process {
	p := command(t, r, "", arguments...)
	p.command.Args[2] = file
	return p
}

// greeters accept connections at addresses of this host and send their address.
func greeters(t *testing.T, addresses ...string) {
	t.Helper()
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(connection, address)
				connection.Close()
			}
		}()
	}
}

// greeted counts the members that answer so many connections to an address; "" where none does.
func greeted(address string, connections int) string {
	counts := map[string]int{}
	for range connections {
		connection, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err != nil {
			return ""
		}
		text := make([]byte, 100)
		n, _ := connection.Read(text)
		connection.Close()
		counts[string(text[:n])]++
	}
	return strings.TrimPrefix(fmt.Sprint(counts), "map")
}

// The process beside real connections: they go to the recommender's members, by its weights, and stay so without it.
func TestSubsetsByNFTables(t *testing.T) {
	if !subsetstest.InNamespace(t) {
		return
	}
	const virtual = "127.9.9.9:80"
	greeters(t, "127.0.1.1:80", "127.0.1.2:80", "127.0.1.3:80")
	r := recommendertest.Start(t)
	r.Subset(publication(1, "127.0.1.1:80 2", "127.0.1.2:80 1"))
	file := subsetConfig(t, "remove_on_exit: true\n    nftables: {virtual: \""+virtual+"\"}")

	only := subsetProcess(t, r, file, "--once")
	if err := only.command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &only.errs)
	}
	if got := greeted(virtual, 1); got != "" || delivered(r) != "" {
		t.Errorf("without an opt-in: %s, told %q", got, delivered(r))
	}

	p := subsetProcess(t, r, file, "--apply", "front-cart")
	p.start(t)
	eventually(t, "the first is told", func() bool { return delivered(r) == "APPLIED 1" })
	if got := greeted(virtual, 9); got != "[127.0.1.1:80:6 127.0.1.2:80:3]" {
		t.Errorf("reached %s", got)
	}
	r.Subset(publication(2, "127.0.1.3:80 1"))
	eventually(t, "the second is told", func() bool { return delivered(r) == "APPLIED 1, APPLIED 2" })
	if got := greeted(virtual, 4); got != "[127.0.1.3:80:4]" {
		t.Errorf("reached %s", got)
	}

	// A subset without members, or with an address elsewhere, is refused.
	r.Subset(publication(3))
	r.Subset(publication(4, "127.0.1.1:80 1", "192.0.2.1:80 1"))
	eventually(t, "the refusal", func() bool { return strings.HasSuffix(delivered(r), "REFUSED 4") })
	r.Stop()
	eventually(t, "the loss is said", func() bool {
		_, metrics := p.get("/metrics")
		return strings.Contains(metrics, "sluice_actuator_recommender_reachable 0")
	})
	if got := greeted(virtual, 4); got != "[127.0.1.3:80:4]" {
		t.Errorf("reached %s after a refusal, without a recommender", got)
	}
	if _, page := p.get("/status"); !strings.Contains(page, `"members": "127.0.1.3:80 1"`) {
		t.Errorf("status:\n%s", page)
	}
	if _, metrics := p.get("/metrics"); !strings.Contains(metrics, `sluice_actuator_subset_outcomes_total{outcome="APPLIED",subset="front-cart"} 2`) {
		t.Errorf("metrics:\n%s", metrics)
	}
	p.stop(t)
	if got := greeted(virtual, 1); got != "" {
		t.Errorf("after the exit %s still answers", got)
	}
}

// A killed process leaves the subset in force; the next one sends the report that the killed one could not send.
func TestSubsetsByFile(t *testing.T) {
	list := filepath.Join(t.TempDir(), "cart.list")
	before := "127.0.1.9:80 1\n"
	files.Write(t, list, before)
	r := recommendertest.Start(t)
	file := subsetConfig(t, "file: {path: \""+list+"\"}")
	r.Subset(publication(1, "127.0.1.2:80 1", "127.0.1.1:80 2"))

	dry := subsetProcess(t, r, file, "--dry-run")
	text, err := dry.command.Output()
	if err != nil || !strings.Contains(string(text), "+127.0.1.1:80 2\n  +127.0.1.2:80 1\n  -127.0.1.9:80 1\n") {
		t.Errorf("%v\n%s%s", err, text, &dry.errs)
	}
	p := subsetProcess(t, r, file, "--apply", "all")
	p.start(t)
	eventually(t, "the first is told", func() bool { return delivered(r) == "APPLIED 1" })
	p.command.Process.Kill()
	p.command.Wait()
	const list1 = "127.0.1.1:80 2\n127.0.1.2:80 1\n"
	if got := files.Read(t, list); got != list1 {
		t.Errorf("the list has %q", got)
	}
	p = subsetProcess(t, r, file, "--apply", "front-cart", "--once")
	if err := p.command.Run(); err != nil || delivered(r) != "APPLIED 1, APPLIED 1" {
		t.Errorf("%v, told %q\n%s", err, delivered(r), &p.errs)
	}
	p = subsetProcess(t, r, file, "--restore", "front-cart")
	if err := p.command.Run(); err != nil || files.Read(t, list) != before {
		t.Errorf("%v, the list has %q\n%s", err, files.Read(t, list), &p.errs)
	}
}

// Two processes have one file, as on two hosts with one volume: one writes it. The other only observes and removes nothing,
// and continues when the first was killed.
func TestAFileOfSubsetsHasOneOwner(t *testing.T) {
	list := filepath.Join(t.TempDir(), "cart.list")
	files.Write(t, list, "127.0.1.9:80 1\n")
	first, second := recommendertest.Start(t), recommendertest.Start(t)
	block := "file: {path: \"" + list + "\"}"
	a := subsetProcess(t, first, subsetConfig(t, block), "--apply", "all")
	b := subsetProcess(t, second, subsetConfig(t, "remove_on_exit: true\n    "+block), "--apply", "all")
	first.Subset(publication(1, "127.0.1.1:80 1"))
	second.Subset(publication(1, "127.0.1.2:80 1"))
	a.start(t)
	eventually(t, "the first is told", func() bool { return delivered(first) == "APPLIED 1" })
	b.start(t)
	eventually(t, "the second says whose it is", func() bool {
		_, page := b.get("/status")
		return strings.Contains(page, `"code": "FOREIGN"`) && strings.Contains(page, " has "+list)
	})
	if got := files.Read(t, list); got != "127.0.1.1:80 1\n" || delivered(second) != "" {
		t.Errorf("the list has %q, the second told %q", got, delivered(second))
	}
	restore := subsetProcess(t, second, subsetConfig(t, block), "--restore", "front-cart")
	if err := restore.command.Run(); err == nil || !strings.Contains(restore.errs.String(), " has "+list) {
		t.Errorf("%v: took away what another process has\n%s", err, &restore.errs)
	}
	a.command.Process.Kill()
	a.command.Wait()
	eventually(t, "the second writes", func() bool { return delivered(second) == "APPLIED 1" })
	if got := files.Read(t, list); got != "127.0.1.2:80 1\n" {
		t.Errorf("the list has %q", got)
	}
	b.stop(t)
	if got := files.Read(t, list); got != "127.0.1.9:80 1\n" {
		t.Errorf("after the exit the list has %q", got)
	}
}

// A process is killed after it wrote the file, and before the program was notified: the next one notifies the program, and
// only then reports.
func TestKilledBeforeTheProgramIsNotified(t *testing.T) {
	folder := t.TempDir()
	list, running, once := filepath.Join(folder, "list"), filepath.Join(folder, "running"), filepath.Join(folder, "once")
	files.Write(t, list, "127.0.1.9:80 1\n")
	files.Write(t, running, files.Read(t, list))
	kills := fmt.Sprintf("[ -e %s ] || { touch %s; kill -9 $PPID; exit 1; }; cp %s %s", once, once, list, running)
	r := recommendertest.Start(t)
	file := subsetConfig(t, fmt.Sprintf("file: {path: %q, command: [sh, -c, %q]}", list, kills))
	r.Subset(publication(1, "127.0.1.1:80 1"))
	p := subsetProcess(t, r, file, "--apply", "all", "--once")
	if err := p.command.Run(); err == nil || p.command.ProcessState.Exited() {
		t.Fatalf("%v: the process was not killed", err)
	}
	if files.Read(t, list) != "127.0.1.1:80 1\n" || files.Read(t, running) != "127.0.1.9:80 1\n" || delivered(r) != "" {
		t.Fatalf("the file has %q, the program %q, told %q", files.Read(t, list), files.Read(t, running), delivered(r))
	}
	p = subsetProcess(t, r, file, "--apply", "all", "--once")
	if err := p.command.Run(); err != nil || files.Read(t, running) != "127.0.1.1:80 1\n" || delivered(r) != "APPLIED 1" {
		t.Errorf("%v: the program has %q, told %q\n%s", err, files.Read(t, running), delivered(r), &p.errs)
	}
	if names, _ := filepath.Glob(filepath.Join(folder, "*-sluice")); len(names) != 2 {
		t.Errorf("left behind: %v, want the text of before and who wrote it", names)
	}
}
