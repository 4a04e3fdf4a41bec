# Sluice. `make help` lists the targets. Everything that is installed goes to .cache/.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# Set in many images of containers. Here hundreds of processes start, and each would compile all of Sluice.
unexport PYTHONDONTWRITEBYTECODE

# The first that is recent enough; deploy/local/stack then says what else is missing.
host_python := $(shell for each in python3.11 python3.12 python3.13 python3; do \
  "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$each" && break; done)
no_python := { echo "missing: Python 3.11 or later. Sluice needs it with venv, a JDK (Java 17 to 23) and Maven; run:" >&2; \
  echo "  sudo apt-get update && sudo apt-get install -y python3 python3-venv default-jdk-headless maven" >&2; exit 1; }; :
stack := $(if $(host_python),PYTHONPATH=deploy/local $(host_python) -m stack,$(no_python))
python := .cache/venvs/sluice/bin/python
functions := streaming-jobs/functions/pom.xml
applications := tests/testbed/tomcat/pom.xml tests/testbed/springboot/pom.xml
go_modules := actuators actuators/handlers/go recommender/proto/go recommender/serve collector/spanlimitprocessor

# The Java and Go that set-up chose, which need not be those on PATH. Go compiles as set-up does (deploy/local/stack/builds.py):
# with other options it would compile each dependency a second time.
toolchain = export JAVA_HOME="$$(readlink -f .cache/java-home)" CGO_ENABLED=0 GOGC=300 GOFLAGS="-trimpath -gcflags=all=-dwarf=false" PATH="$$PWD/.cache/venvs/go/bin:$$PATH"

.PHONY: help up down status clean setup test test-unit test-integration test-faults bench count lint fmt generate check-generated lock

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## Running

up: ## install what is needed, start everything, wait for the first recommendation (APPLY=all: and apply it; DEMO=0: no demo)
	@$(stack) up $(addprefix --apply ,$(APPLY)) $(if $(filter 0,$(DEMO)),--empty)

down: ## stop everything that `make up` started; data stays
	@$(stack) down

.PHONY: images
images: ## build the container images with buildah or docker (IMAGES="server job": those; CHECK=1: twice, and compare; RELEASE=1)
	@deploy/images/make.sh $(IMAGES)

status: ## what is up, since when, and how far each stage is behind
	@$(stack) status

clean: ## remove data and caches (refused while the stack is up)
	@$(stack) clean

setup: ## only install and build
	@$(stack) setup

## Checking

test: ## what a change must pass, 15 minutes; runs on after a failure and then fails
	@$(stack) setup --for test
	@$(suites) test-integration --beside test-unit test-java test-go

test-long: ## what needs longer, some two hours by its parts: real applications under load, a million spans, each job alone, Kubernetes; a release runs it
	@$(stack) setup --for test-long
	@$(suites) test-go-race test-unit-long long

.PHONY: test-cluster
test-cluster: ## Sluice installed by Helm on a real Kubernetes of one node; root, containerd and images, or it says what is missing
	@$(stack) setup --for test-cluster
	@$(pytest) -rs --durations=25 tests/cluster

suites = $(toolchain); PYTHONPATH=tests/kit:deploy/local $(python) -m sluice_kit.suites
# Several processes share two cores: threads within one, of its linear algebra, would only wait for one another.
pytest = $(toolchain) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1; $(python) -m pytest -q
# Those that start the largest servers, or take longest, first: the files are dealt out to processes in this order. Of
# its own accord xdist deals out those with the most tests first, and the longest, of one test, would be last.
unit := $(addprefix recommender/decide/tests/,served decider) tests/component streaming-jobs/tests storage/tests recommender/decide/tests dashboards/tests tests/testbed tests/bench deploy/local/tests deploy/images/tests deploy/compose/tests deploy/helm/tests deploy/alerts/tests deploy/advisories/tests deploy/licences/tests tests/contract tests/kit/tests

test-unit: ## Python tests that need no stack (some start servers, and wait for them), three processes
	@$(pytest) -n 3 --dist loadfile --no-loadscope-reorder --durations=25 $(wildcard $(unit))

test-integration: ## Python tests on the real stack, on ports of their own; those that disturb it last
	@$(pytest) --durations=25 tests/stack tests/chaos

test-faults: ## of these, those that disturb the stack: kill -9 of each process under load, restores
	@$(pytest) --durations=25 tests/chaos

.PHONY: test-long long test-unit-long test-java test-go test-go-race
long:
	@$(pytest) --durations=25 tests/soak

test-unit-long: ## what the Python tests that need no stack leave out in `make test`: more pools, pairs, seeds
	@$(pytest) -n 2 --dist loadfile --durations=25 -m long $(wildcard $(unit))

test-java: ## Java tests of the streaming functions
	@$(toolchain); mvn -B -Dstyle.color=never -f $(functions) test | grep -E '^\[(INFO|ERROR|WARNING)\] .*(Tests run|FAIL|ERROR|BUILD)|^\[ERROR\]'; exit $${PIPESTATUS[0]}

test-go: ## Go tests of the actuator, the server and the collector's own processor; lint-go vets them
	@$(toolchain); for module in $(go_modules); do (cd $$module && go test -vet=off ./...) || exit 1; done

test-go-race: ## the same with the race detector, which compiles all dependencies anew; needs a C compiler
	@$(toolchain) CGO_ENABLED=1; for module in $(go_modules); do (cd $$module && go test -vet=off -race ./...) || exit 1; done

bench: ## measure speed; prints ratios against a reference of the same run, writes tests/bench/out (BENCH=NAME: one; QUICK=1; KEEP=1: and tests/bench/results)
	@$(stack) setup --for bench
	@SLUICE_TEST_STACK=tests/bench/shipped.toml PYTHONPATH=tests:tests/kit:recommender/decide/src:deploy/local:storage $(python) -m bench $(BENCH) $(if $(QUICK),--quick) $(if $(KEEP),--keep)

count: ## lines of hand-written source and of tests, bench and testbed by room, beside their bars (CHECK=1: fail when over)
	@$(if $(host_python),$(host_python) deploy/local/count.py,$(no_python)) $(if $(CHECK),--check)

lint: ## style, types, protobuf, links, queries of dashboards, generated code; says all that is wrong, then fails
	@$(stack) setup --for lint
	@failed=(); \
	for check in lint-python lint-go lint-java lint-proto lint-docs lint-deploy check-generated; do \
	  echo "== $$check"; $(MAKE) --no-print-directory $$check || failed+=($$check); \
	done; \
	if (( $${#failed[@]} )); then echo; echo "FAILED: $${failed[*]}"; exit 1; fi; echo; echo "nothing to complain about"

.PHONY: lint-python lint-go lint-java lint-proto lint-docs lint-deploy
# Types of all code but the tests that `make test` runs anyway.
typed := recommender/decide/src storage/migrate storage/schema dashboards/generate dashboards/pictures deploy/alerts deploy/helm deploy/local docs/generate tests/kit/sluice_kit tests/testbed tests/soak

lint-python:
	@failed=0; $(python) -m ruff check . || failed=1; $(python) -m ruff format --check . || failed=1; \
	$(python) -m mypy $(wildcard $(typed)) --exclude "tests/testbed/(.*/)?(instrumented/.*|polyglot/.*|test_\w+|meshes|receiver|vectors|worlds)\.py" || failed=1; exit $$failed

lint-go:
	@$(toolchain); for module in $(go_modules) tests/bench/watch_client tests/testbed/resizable/go tests/testbed/instrumented/go tests/testbed/polyglot/go tests/testbed/storefront/go deploy/images/probe; do ( \
	  cd $$module; unformatted=$$("$$(go env GOROOT)/bin/gofmt" -l .); \
	  if [[ $$unformatted ]]; then echo "not formatted: $$unformatted"; exit 1; fi; go vet ./... \
	) || exit 1; done

# google-java-format, by its Maven plugin.
java_format := com.spotify.fmt:fmt-maven-plugin:2.27

lint-java:
	@$(toolchain); failed=0; for module in $(functions) $(applications); do \
	  mvn -q -B -f $$module $(java_format):check || failed=1; \
	done; exit $$failed

lint-proto:
	@cd recommender/proto && ../../.cache/buf/bin/buf lint && ../../.cache/buf/bin/buf breaking --against baseline.binpb

lint-docs: ## links, commands and configurations of the documents; the dashboards' queries, of ClickHouse and of Prometheus
	@failed=0; $(pytest) -p no:cacheprovider tests/contract/test_documents.py dashboards/tests/test_metrics.py || failed=1; \
	PYTHONPATH=storage:tests/kit $(python) dashboards/tests/explain.py || failed=1; exit $$failed

lint-deploy: ## the charts: helm lint, values that are not legal, rendered examples, unit tests, schemas, alerts; the files of Compose; advisories on Go's modules; licences
	@$(toolchain); failed=0; $(python) deploy/advisories/check.py || failed=1; $(python) deploy/licences/licences.py || failed=1; $(python) deploy/helm/check.py || failed=1; deploy/compose/check.sh .cache/bin/charts/compose-spec || failed=1; exit $$failed

check-generated: ## generated code is what its sources give
	@$(toolchain); deploy/local/generate.sh --check

## Writing

fmt: ## format all code
	@$(stack) setup --for lint
	@$(python) -m ruff check --fix-only -q .; $(python) -m ruff format .
	@$(toolchain); "$$(go env GOROOT)/bin/gofmt" -w $(go_modules) && \
	for module in $(functions) $(applications); do mvn -q -B -f $$module $(java_format):format || exit 1; done

generate: ## write generated code: protobuf for Go, the collectors' sources, Flink's tables, dashboards
	@$(stack) setup --for lint
	@$(toolchain); deploy/local/generate.sh

lock: ## resolve again and lock: Python environments, the collectors' modules
	@$(stack) setup --for lint
	@$(toolchain); deploy/local/lock.sh
	@echo 'now `make setup`, then `make licences`'

.PHONY: licences
licences: ## write deploy/licences/licences.json: which licences the packages in the images have
	@$(stack) setup --for lint
	@$(toolchain); $(python) deploy/licences/write_licences.py
