# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Everything needs only Go, make and git: the programs used here are built from
# pinned Go modules (test/tools) into bin/, on demand and once. TOOLS=download
# installs released programs instead.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

ENV       ?= production
NAMESPACE ?= vector-system
RELEASE   ?= vso
# As the chart names it.
IMAGE     ?= ghcr.io/kontroloop-ai/vector-sidecar-operator
ARGS      ?=
SIDECAR   ?= docs/samples/02-logs.yaml
FUZZTIME  ?= 100000x
SEED      ?= 0

BIN     := bin
MODULES := test/tools
include $(MODULES)/site/site.mk test/download/download.mk test/pluginarchive/archive.mk test/release/release.mk test/imagearchive/image.mk test/pictures/pictures.mk

VERSION = $(or $(shell awk '$$1 == "appVersion:" {gsub(/"/, "", $$2); print $$2}' chart/Chart.yaml 2>/dev/null),dev)
ENVIRONMENTS = $(basename $(notdir $(wildcard values/*.yaml)))
CRD := chart/files/crds/observability.kontroloop.ai_vectorsidecars.yaml

# How programs are built, also those of the image, of tests and of the benchmark. grpcnotrace leaves out pages on which
# gRPC would show its calls: they need html/template, and with it the linker would keep every method that there is.
TAGS    := grpcnotrace
LDFLAGS  = -s -w -X main.version=$(VERSION)
PROGRAMS := ./cmd/...

##@ Build

.PHONY: build
build: ## Build the operator, the kubectl plugin and the drain gate into bin/.
	CGO_ENABLED=0 go build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o $(BIN)/ $(PROGRAMS)

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate the API types' deepcopy functions, and the pages of the plugin and of reasons.
	$(BIN)/controller-gen object:headerFile=test/tools/controller-gen/header.go.txt paths=./api/...
	go run ./cmd/kubectl-vectorsidecar docs cli > docs/reference/cli.md
	go run ./cmd/kubectl-vectorsidecar docs reasons > docs/reference/reasons.md

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate the CustomResourceDefinitions that the chart installs, and what other files determine of the chart: parts of its schema, its README, docs/reference/values.md, changes, copies.
	go run ./test/chartfiles
	$(BIN)/controller-gen crd:maxDescLen=$(CRD_DESCRIPTIONS) paths=./api/... output:crd:dir=$(dir $(CRD))
	go run ./test/crdbounds $(dir $(CRD))*.yaml

# Descriptions of the embedded core types would bring the CRD near the limit of
# what one request may hold, so each is cut at this many characters.
CRD_DESCRIPTIONS := 120

.PHONY: vector-tables
vector-tables: ## Write the table of all options of Vector's components, out of the data in FACTS, and of RELEASE out of a CHECKOUT of Vector.
	@test -n '$(FACTS)' || { echo 'vector-tables: name the folder of vector-options.json.xz and vector-schema-0.57.0.json.xz in FACTS'; exit 2; }
	$(if $(CHECKOUT),go run -C test/vectortables/checkout . '$(abspath $(CHECKOUT))' '$(RELEASE)' > '$(FURTHER)')
	go run ./test/vectortables '$(FACTS)' $(if $(CHECKOUT),'$(FURTHER)')
	FACTS='$(abspath $(FACTS))' $(if $(CHECKOUT),FURTHER='$(FURTHER)') go test -count=1 ./test/vectortables

.PHONY: vrl-functions
vrl-functions: ## Write the table of the functions of VRL in each release of Vector, out of the Git repositories of both: VECTOR_REPOSITORY and VRL_REPOSITORY.
	@test -n '$(VECTOR_REPOSITORY)' -a -n '$(VRL_REPOSITORY)' || { echo 'vrl-functions: name the folders in VECTOR_REPOSITORY and VRL_REPOSITORY'; exit 2; }
	go run ./test/vectortables/functions '$(VECTOR_REPOSITORY)' '$(VRL_REPOSITORY)' > $(FUNCTIONS).tmp && mv $(FUNCTIONS).tmp $(FUNCTIONS)

.PHONY: time-zones
time-zones: ## Write the names of the time zones that Go has, which the check of Vector configurations goes by.
	go run ./test/vectortables/zones > $(ZONES).tmp && mv $(ZONES).tmp $(ZONES)

ZONES := internal/vectorlint/config/data/timezones.txt
FUNCTIONS := internal/vectorlint/vrl/data/functions.tsv
# FURTHER is where the options of a release that is not in FACTS are written, for vector-tables.
FURTHER := $(abspath $(BIN))/vector-options.json

##@ Run

.PHONY: run quickstart demo real-node render
run: ## Run the operator against the current kubeconfig.
	go run -tags '$(TAGS)' -ldflags '$(LDFLAGS)' ./cmd/operator $(ARGS)

quickstart: PROGRAMS := ./cmd/kubectl-vectorsidecar
quickstart: build ## Build the kubectl plugin alone, and show it on the samples without a cluster.
	@test/quickstart.sh

# The prerequisites are expanded only if the demo is made, because programs of PATH are asked for their versions.
.SECONDEXPANSION:
demo: build $(if $(filter real,$(NODE)),real-node,$$(DEMO_TOOLS)) $(if $(filter all,$(KINDS)),$(addprefix $(BIN)/,rollouts-controller rollouts-crds)) ## Show the main job on a control plane of its own, then stay up; DEMO=once runs through and ends, KINDS=all has a Rollout of Argo Rollouts, too, whose controller takes some minutes to build, NODE=real has pods run, with Linux, root, containerd and runc.
	go run ./test/demo $(if $(filter once,$(DEMO)),-once) $(if $(filter all,$(KINDS)),-rollouts) $(if $(NODE),-node=$(NODE)) $(if $(filter real,$(NODE)),,-helm='$(PATH_HELM)' -kubectl='$(PATH_KUBECTL)') $(ARGS)

real-node: image control-plane $(addprefix $(BIN)/,kubelet kube-proxy coredns)

render: ## Print the sample Deployment as environment ENV would have it, without a cluster.
	@go run ./cmd/kubectl-vectorsidecar render --environment $(ENV) -f docs/samples/app/deployment.yaml --sidecar $(SIDECAR) --label logs=vector $(ARGS)

##@ Cluster (of the current kubeconfig)

.PHONY: install uninstall deploy undeploy package push samples
install: $(BIN)/helm $(BIN)/kubectl ## Install the CustomResourceDefinition only.
	$(BIN)/helm template $(RELEASE) chart -s templates/crds.yaml | $(BIN)/kubectl apply --server-side -f -

uninstall: $(BIN)/helm $(BIN)/kubectl ## Remove the CustomResourceDefinition, and with it every VectorSidecar.
	$(BIN)/helm template $(RELEASE) chart -s templates/crds.yaml | $(BIN)/kubectl delete --ignore-not-found -f -

deploy: $(BIN)/helm ## Install or upgrade the chart for environment ENV.
	$(BIN)/helm upgrade --install --take-ownership $(RELEASE) ./chart -n $(NAMESPACE) --create-namespace -f values/$(ENV).yaml $(ARGS)

undeploy: $(BIN)/helm ## Uninstall the chart.
	$(BIN)/helm uninstall $(RELEASE) -n $(NAMESPACE) $(ARGS)

package: $(BIN)/helm ## Package the installation chart into bin/.
	$(BIN)/helm package chart --destination $(BIN)

push: package ## Push the packaged chart to REGISTRY, such as oci://ghcr.io/you/charts.
	$(BIN)/helm push $(BIN)/vector-sidecar-operator-$(VERSION).tgz $(REGISTRY) $(ARGS)

samples: $(BIN)/kubectl ## Apply the sample application and VectorSidecars.
	$(BIN)/kubectl apply -f docs/samples/app -f docs/samples

##@ Check

# Tests that run programs: go test does not see what child processes read, so it must not reuse a result.
RUNS_PROGRAMS := envtest cli docs vector
PARTS := envtest-alone1 envtest-alone2 cli-operator docs-commands chart-webhook
INTEGRATION := chart $(PARTS) corpus process injection faults preflight bombs vulncheck

# Each waits much of its time, so several run side by side. What takes long is a part of its own, PACKAGE-PART: above all tests
# of envtest that run alone, because they stop the one operator or change its installation. Every second one is in the other part.
SIDE_BY_SIDE := $(MAKE) --no-print-directory --keep-going --jobs=4 --output-sync=target
alone = ^($(shell awk -F '[^A-Za-z0-9_]+' '/^func Test/ {name = $$2; getline; if (name != "TestMain" && !/t.Parallel/ && n++ % 2 == $(1)) print name}' test/envtest/*_test.go | paste -sd'|'))$$
TESTS_envtest-alone1 = $(call alone,0)
TESTS_envtest-alone2 = $(call alone,1)
TESTS_chart-webhook := Webhook
TESTS_cli-operator := TestCLI_WorksOnCluster/API_server/(inject_gives_what_the_operator_gives|a_plan_over_a_thousand_workloads)
TESTS_docs-commands := TestDocs_RunCommands

# Tests on a cluster wait most of their time, so several of a package run at once. Programs collect garbage seldom while they
# have memory enough, and without tables for a debugger are linked faster. The operator as a process is the one built before.
TEST_ENV = GOGC=$(or $(GOGC),400) GOMEMLIMIT=$(or $(GOMEMLIMIT),2GiB) OPERATOR='$(CURDIR)/$(BIN)/operator'
GO_TEST = $(TEST_ENV) go test -ldflags '-s -w' -timeout 30m -parallel $(PARALLEL)
PARALLEL := 4
go-test-envtest: PARALLEL := 6
go-test-envtest: SELECTED = -test.skip '$(TESTS_envtest-alone1)|$(TESTS_envtest-alone2)'
go-test-cli: SELECTED := -test.skip '$(TESTS_cli-operator)'
go-test-docs: SELECTED := -test.skip '$(TESTS_docs-commands)'
go-test-chart: SELECTED := -skip '$(TESTS_chart-webhook)'

# The commit that upgrades start from and rollbacks return to. Its operator has another version than the present one.
RELEASE_BEFORE := $(shell grep -xE '[0-9a-f]{40}' test/golden/RELEASE_BEFORE)

.PHONY: release-before
# A dry run executes each recipe that names the variable MAKE, so this one names MAKE_COMMAND. Variables of the command
# line may have another meaning in that commit.
release-before: ## Build the operator of the commit in test/golden/RELEASE_BEFORE in bin/before, beside its chart and values, out of the history.
	@set -e; to='$(CURDIR)/$(BIN)/before'; \
	if [ "$$(cat "$$to/commit" 2>/dev/null)" = $(RELEASE_BEFORE) ]; then exit; fi; \
	rm -rf "$$to"; \
	if ! git cat-file -e '$(RELEASE_BEFORE)^{commit}' 2>/dev/null; then \
	  echo 'SKIPPED: the upgrade from the release before is not tested: $(RELEASE_BEFORE) is not in the history here'; exit; \
	fi; \
	from="$$(mktemp -d)"; trap 'git worktree remove --force "$$from/tree"; rm -rf "$$from"' EXIT; \
	git worktree add --quiet --detach "$$from/tree" $(RELEASE_BEFORE); \
	env -u MAKEFLAGS $(MAKE_COMMAND) --no-print-directory -C "$$from/tree" build BIN="$$to" PROGRAMS=./cmd/operator VERSION=0.0.0-before; \
	cp -R "$$from/tree/chart" "$$from/tree/values" "$$to"; \
	echo $(RELEASE_BEFORE) > "$$to/commit"

.PHONY: test
test: build control-plane $(BIN)/helm-unittest $(BIN)/kind $(BIN)/rollouts-crds ## Run the tests: unit, golden, charts, and the operator and the plugin against a real API server.
	@$(SIDE_BY_SIDE) go-test-$(firstword $(RUNS_PROGRAMS)) go-test-rest $(RUNS_PROGRAMS:%=go-test-%) test-charts
	@command -v '$(or $(VECTOR),vector)' >/dev/null || \
	  echo 'SKIPPED: no rendered configuration is run, because there is no Vector here: name the program in VECTOR, or put it into PATH'

.PHONY: $(addprefix go-test-,rest $(RUNS_PROGRAMS) $(INTEGRATION))
go-test-rest:
	@packages=$$(go list ./... | grep -vE '/test/($(subst $() ,|,$(RUNS_PROGRAMS) $(INTEGRATION) node rollouts))(/|$$)') && $(GO_TEST) $$packages
$(addprefix go-test-,$(RUNS_PROGRAMS)): go-test-%: # What is linked stays, and is linked again only when it has changed.
	@go test -c -ldflags '-s -w' -o $(BIN)/tests/$*.test ./test/$*
	@cd test/$* && $(TEST_ENV) '$(CURDIR)/$(BIN)/tests/$*.test' -test.paniconexit0 -test.timeout 30m -test.parallel $(PARALLEL) $(SELECTED) && echo "ok  test/$*  $${SECONDS}s"
$(addprefix go-test-,$(filter-out $(PARTS) bombs,$(INTEGRATION))): go-test-%:
	@$(GO_TEST) -count=1 $(SELECTED) ./test/$*/...
$(PARTS:%=go-test-%): go-test-%:
	@$(GO_TEST) -count=1 -run '$(TESTS_$*)' ./test/$(firstword $(subst -, ,$*))/...
go-test-bombs:
	@$(GO_TEST) -count=1 ./test/bombs -few

.PHONY: test-charts
test-charts: $(BIN)/helm-unittest ## Run both charts' helm-unittest suites.
	$(BIN)/helm-unittest ./chart
	$(BIN)/helm-unittest -f 'test/sidecarchart/*_test.yaml' .

.PHONY: test-integration
test-integration: build release-before control-plane $(addprefix $(BIN)/,helm-sdk helm-unittest kind ko promtool crds rollouts-crds) ## Run what takes longer: the chart's life, operators that are killed, frozen and replaced, installations that change, waves, ways back and the pace of rollouts, every scenario by the operator, the documentation's commands, generated workloads, injection by the API server, preflight, faults and bombs in short.
	@$(SIDE_BY_SIDE) $(INTEGRATION:%=go-test-%)

.PHONY: test-rollouts
test-rollouts: control-plane $(addprefix $(BIN)/,rollouts-controller rollouts-crds) ## Run what holds of Argo Rollouts, with its controller, which takes some minutes to build.
	@$(GO_TEST) -count=1 -v ./test/rollouts/...

.PHONY: test-node
test-node: real-node release-before ## Run what only a real node shows, with Linux, root, containerd and runc; VECTOR names a Vector, a program or an image archive; ROWS=all tries every row of docs/explanation/delivery.md, ROWS=write writes its table.
	ROWS='$(ROWS)' go test -count=1 -v -timeout 30m -p 1 -parallel $(if $(VECTOR),8,12) ./test/node/product $(if $(NODE_KUBECONFIG),,./test/node)
	$(if $(NODE_KUBECONFIG),,go test -count=1 -v -timeout 10m ./test/node/demo & NODE_FAMILY=IPv6 go test -count=1 -v -timeout 10m -run TestIPFamily_SupportsNodesWithoutIPv4 ./test/node/product || { wait; false; }; wait $$!)

.PHONY: test-vector
test-vector: ## Hold the check of Vector configurations against a real Vector, the program that VECTOR names: presets, what is in the repository, and mutants.
	go test -count=1 -v -timeout 30m -run 'Vector' ./test/vector $(ARGS)

.PHONY: sizes
sizes: $(BIN)/kafka ## Measure memory and CPU of the Vector that VECTOR names with what the chart renders, on Linux, for some minutes; ROWS=write writes the table of docs/how-to/sidecar/sizing.md.
	ROWS='$(ROWS)' go test -count=1 -v -timeout 30m ./test/sizes -full $(ARGS)

.PHONY: faults
faults: build control-plane $(BIN)/rollouts-crds ## Sweep every scenario for every fault, before and after each write, for up to two hours; ARGS='-scenarios REGEXP' for some.
	go test -count=1 -v -timeout 170m ./test/faults -full -runs 16 $(ARGS)

.PHONY: corpus
corpus: control-plane $(BIN)/rollouts-crds ## Try a thousand generated workloads with every sample; SEED=N for those of that seed, ARGS='-workloads 0' for every value of every field, which takes hours.
	go test -timeout 5h -count=1 -v -run TestMerger_EqualsResultOfAPIServer ./test/corpus -seed $(SEED) -workloads 1000 $(ARGS)

.PHONY: bombs
bombs: control-plane ## Try every kind of bomb in ten namespaces, and hundreds of generated ones, under the chart's limit of memory; ARGS='-seed N' for those of that seed.
	go test -timeout 5h -count=1 -v ./test/bombs -full $(ARGS)

.PHONY: test-e2e
test-e2e: build control-plane ## Run only the whole: chart, operator process and application on a control plane with simulated nodes.
	go run ./test/demo -once

.PHONY: bench bench-short bench-record bench-unit
bench: control-plane $(BIN)/rollouts-crds ## Measure the operator against the floor at full size, for more than half an hour; ARGS='-only REGEXP' for some of it.
	go run ./test/bench -size full -profile $(ARGS)

bench-short: control-plane $(BIN)/rollouts-crds ## Measure it in short, and fail if a ratio became more than 20 % worse than it ever was.
	go run ./test/bench -record $(BENCH_RECORD) $(ARGS)

bench-record: control-plane $(BIN)/rollouts-crds ## Measure it in short, and record the ratios as ranges that hold.
	go run ./test/bench -record $(BENCH_RECORD) -update $(ARGS)

bench-unit: ## Run the benchmarks of single packages, in the form that benchstat reads.
	go test -bench . -benchmem -run '^$$' ./internal/...

BENCH_RECORD := test/bench/recorded.json

# FUZZTIME is a number of inputs and not a duration: at the end of one, Go may report
# "context deadline exceeded" of a target that found nothing (golang/go#75804, until Go 1.27).
# Go would try for a minute to shorten each input that reaches something new, in place of others.
.PHONY: fuzz
fuzz: ## Run every fuzz target on FUZZTIME inputs, as CI does each night; make test runs their seeds.
	@grep -rl --include='*_test.go' '^func Fuzz' internal | sort | while read -r file; do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' "$$file"); do \
	    echo "$$target of $$(dirname "$$file"), $(FUZZTIME)"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x "./$$(dirname "$$file")" || exit 1; \
	  done; \
	done

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the code and group its imports.
	$(BIN)/golangci-lint fmt

.PHONY: lint
lint: $(BIN)/golangci-lint $(BIN)/kube-api-linter $(BIN)/helm ## Lint the code, the API by Kubernetes' conventions, and both charts with every environment's values.
	$(BIN)/golangci-lint run
	$(BIN)/kube-api-linter run -c $(MODULES)/kube-api-linter/config.yaml ./api/...
	@for env in $(ENVIRONMENTS); do \
	  for chart in chart .; do \
	    echo "helm lint $$chart -f values/$$env.yaml"; \
	    $(BIN)/helm lint --quiet $$chart -f values/$$env.yaml || exit 1; \
	  done; \
	done

.PHONY: vulncheck
vulncheck: $(BIN)/govulncheck ## Find known vulnerabilities in code that PROGRAMS call, in the database of the folder DB, an unpacked https://vuln.go.dev/vulndb.zip.
	@test -n '$(DB)' || { echo 'vulncheck: name the folder of the database in DB'; exit 2; }
	$(BIN)/govulncheck -db 'file://$(abspath $(DB))' -tags '$(TAGS)' $(PROGRAMS)

.PHONY: verify
verify: ## Do all that CI does: generate, format, lint, test, demo, read the documentation site, and find the tree unchanged.
	$(MAKE) --no-print-directory generate manifests fmt
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory test
	$(MAKE) --no-print-directory test-integration
	$(MAKE) --no-print-directory demo DEMO=once test-site
	@if [ -n "$$(git status --porcelain)" ]; then \
	  git --no-pager diff; \
	  echo "verify: the tree differs from the last commit; commit these or take them back:"; \
	  git status --short; \
	  exit 1; \
	fi
	@echo "verify: generated code, format, lint, tests and demo are as committed"

##@ Housekeeping

.PHONY: tidy clean help
tidy: ## Bring go.mod and go.sum of the operator and of every tool module in line.
	go mod tidy
	for module in $(dir $(wildcard $(MODULES)/*/go.mod)); do (cd $$module && go mod tidy); done

clean: ## Remove everything built.
	rm -rf $(BIN)

help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "ENV=$(ENV) NAMESPACE=$(NAMESPACE) RELEASE=$(RELEASE); ARGS are handed on to the program that a target runs."

##@ Tools

CONTROL_PLANE := $(addprefix $(BIN)/,etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl helm helm4)

.PHONY: control-plane
control-plane: $(CONTROL_PLANE) ## Build the programs of the test control plane.

.PHONY: tools
tools: control-plane $(addprefix $(BIN)/,helm-sdk helm-unittest controller-gen golangci-lint kube-api-linter kind ko promtool crds) ## Build every tool into bin/, or download it with TOOLS=download where possible; the first time takes some minutes.

# The version of a module as its tool module pins it.
pinned = $(shell awk '$$1 == "require" {$$1 = ""; $$0 = $$0} $$1 == "$(2)" && $$2 ~ /^v/ {print $$2; exit}' $(MODULES)/$(1)/go.mod)

KUBE_VERSION := $(call pinned,kubernetes,k8s.io/kubernetes)
KUBE_MAJOR   := $(patsubst v%,%,$(word 1,$(subst ., ,$(KUBE_VERSION))))
KUBE_MINOR   := $(word 2,$(subst ., ,$(KUBE_VERSION)))

KUBE_LDFLAGS := \
  -X k8s.io/component-base/version.gitVersion=$(KUBE_VERSION) \
  -X k8s.io/component-base/version.gitMajor=$(KUBE_MAJOR) \
  -X k8s.io/component-base/version.gitMinor=$(KUBE_MINOR)

# Charts rendered without a cluster see the Kubernetes version of the control plane; Helm's own default is 1.20.
CHART_LDFLAGS := \
  -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=$(KUBE_MAJOR) \
  -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$(KUBE_MINOR) \
  -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=$(KUBE_MAJOR) \
  -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=$(KUBE_MINOR)

HELM_LDFLAGS := $(CHART_LDFLAGS) \
  -X helm.sh/helm/v3/internal/version.version=$(call pinned,helm,helm.sh/helm/v3) -X helm.sh/helm/v3/internal/version.metadata=

# $(call tool,module,program,package,linker flags,build tags): a program is built again only when its module's pins change.
define tool
$(BIN)/$(2): $(MODULES)/$(1)/go.mod $(MODULES)/$(1)/go.sum | $(DOWNLOAD)
	@TOOLS=$(TOOLS) DOWNLOADS='$(DOWNLOADS)' STEPS='$$(STEPS)' $(MODULES)/step.sh $(abspath $(BIN)/$(2)) go build -C $(MODULES)/$(1) -tags '$(5)' -ldflags '-s -w $(4)' -o $(abspath $(BIN)/$(2)) $(3)
	@touch $(BIN)/$(2)
endef

$(foreach program,kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet kube-proxy,\
  $(eval $(call tool,kubernetes,$(program),k8s.io/kubernetes/cmd/$(program),$(KUBE_LDFLAGS))))
$(eval $(call tool,etcd,etcd,go.etcd.io/etcd/server/v3))
$(eval $(call tool,kwok,kwok,sigs.k8s.io/kwok/cmd/kwok))
$(eval $(call tool,argo-rollouts,rollouts-controller,github.com/argoproj/argo-rollouts/cmd/rollouts-controller))
$(eval $(call tool,coredns,coredns,.))
$(BIN)/coredns: $(MODULES)/coredns/main.go
$(eval $(call tool,kafka,kafka,.))
$(BIN)/kafka: $(MODULES)/kafka/main.go
$(eval $(call tool,helm,helm,helm.sh/helm/v3/cmd/helm,$(HELM_LDFLAGS)))
$(eval $(call tool,helm4,helm4,helm.sh/helm/v4/cmd/helm,-X helm.sh/helm/v4/internal/version.version=$(call pinned,helm4,helm.sh/helm/v4)))
$(eval $(call tool,helm,helm-sdk,./sdk))
$(BIN)/helm-sdk: $(MODULES)/helm/sdk/main.go
$(eval $(call tool,helm-unittest,helm-unittest,github.com/helm-unittest/helm-unittest/cmd/helm-unittest,$(CHART_LDFLAGS)))
$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,kube-api-linter,kube-api-linter,sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter))
$(eval $(call tool,govulncheck,govulncheck,golang.org/x/vuln/cmd/govulncheck))
$(eval $(call tool,ko,ko,github.com/google/ko))
$(eval $(call tool,kind,kind,sigs.k8s.io/kind))
# Without what finds targets at cloud providers, of which rules know nothing.
$(eval $(call tool,promtool,promtool,github.com/prometheus/prometheus/cmd/promtool,,remove_all_sd))

# Definitions of kinds that the chart makes objects of, for tests.
$(BIN)/crds: $(MODULES)/crds/go.mod $(MODULES)/crds/go.sum
	@echo "copying CustomResourceDefinitions"
	@mkdir -p $@ && cd $(MODULES)/crds && go mod download && for file in \
	  "$$(go list -m -f '{{.Dir}}' github.com/prometheus-operator/prometheus-operator)"/example/prometheus-operator-crd/monitoring.coreos.com_{service,pod}monitors.yaml \
	  "$$(go list -m -f '{{.Dir}}' github.com/prometheus-operator/prometheus-operator)"/example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml \
	  "$$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/cert-manager.io_certificates.yaml; do \
	  install -m 644 "$$file" $(CURDIR)/$@/; done
	@touch $@

# Definitions of Rollouts and of what their controller watches besides.
$(BIN)/rollouts-crds: $(MODULES)/argo-rollouts/go.mod $(MODULES)/argo-rollouts/go.sum
	@echo "copying CustomResourceDefinitions of Argo Rollouts"
	@mkdir -p $@ && cd $(MODULES)/argo-rollouts && go mod download github.com/argoproj/argo-rollouts && \
	  install -m 644 "$$(go list -m -f '{{.Dir}}' github.com/argoproj/argo-rollouts)"/manifests/crds/*-crd.yaml $(CURDIR)/$@/
	@touch $@
