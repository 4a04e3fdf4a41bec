package access

import (
	"strings"
	"testing"

	"google.golang.org/grpc"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
	tuningv1 "sluice.dev/api/tuning/v1"
)

const token = "0123456789abcdef"

func TestListsThatAreNone(t *testing.T) {
	for content, want := range map[string]string{
		"":                                      "empty",
		"# nobody\n":                            "empty",
		"short":                                 "16 or more",
		token + " ann read now":                 "4 words",
		token + " ann write":                    `"write" is no role`,
		token + " ann read,":                    `"" is no role`,
		token + " ann\n" + token + " bob":       "line 2 repeats",
		token + " ann\n" + token + "0 ann read": "line 2 repeats",
		token + "é":                             "ASCII",
	} {
		if _, err := parseTokens([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	for content, want := range map[string]string{
		"ann":                     "1 words",
		"ann read\nann report":    "line 2 repeats",
		"ann reading":             "no role",
		"ann read report operate": "4 words",
	} {
		if _, err := parseClients([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

func TestATokenAloneMayDoAllUnderANameOfItsOwn(t *testing.T) {
	callers, err := parseTokens([]byte(token + "\n\n" + token + "0 ann report # no comment\n"))
	if err == nil {
		t.Error("a comment behind a token was taken for more")
	}
	if callers, err = parseTokens([]byte(token + "\n" + token + "0 ann report\n")); err != nil || len(callers) != 2 {
		t.Fatal(callers, err)
	}
	for _, caller := range callers {
		if caller.Name == "ann" && caller.Roles != Report || caller.Name != "ann" && (caller.Roles != allRoles || strings.Contains(caller.Name, token)) {
			t.Error(caller)
		}
	}
}

// Every method needs a listed role; a new one needs all of them until it is listed.
func TestEveryMethodHasARole(t *testing.T) {
	want := map[string]Role{
		"ReportActuation": Report, "NotifyScaling": Report, "PausePool": Operate, "ResumePool": Operate, "ReportDelivery": Report,
		"CreateSession": Operate, "StopSession": Operate, "AskTrials": Report, "TellTrial": Report,
	}
	services := []grpc.ServiceDesc{
		poolsv1.PoolSizeService_ServiceDesc, subsetsv1.SubsetService_ServiceDesc, tuningv1.TuningService_ServiceDesc,
	}
	for _, service := range services {
		for _, method := range service.Methods {
			role, open := requiredRole("/" + service.ServiceName + "/" + method.MethodName)
			required, named := want[method.MethodName]
			if !named {
				required = Read
			}
			if open || role != required {
				t.Errorf("%s: %v, want %v", method.MethodName, role, required)
			}
		}
	}
	if role, open := requiredRole("/" + services[0].ServiceName + "/ForgetEverything"); open || role != allRoles {
		t.Error(role, open)
	}
	if _, open := requiredRole("/grpc.health.v1.Health/Check"); !open {
		t.Error("a probe is asked who it is")
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "127.1.2.3:1": true,
		"0.0.0.0:1": false, "[::]:1": false, ":1": false, "10.0.0.1:1": false, "host:1": false, "127.0.0.1": false,
	} {
		if Loopback(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
