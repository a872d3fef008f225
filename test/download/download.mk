# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# build makes the tools from their modules. download installs the released program of each tool with an entry in DOWNLOADS.
TOOLS     ?= build
DOWNLOADS ?= $(MODULES)/downloads.tsv
$(if $(filter-out build download,$(TOOLS)),$(error TOOLS is '$(TOOLS)'; set it to build or download))

ifeq ($(TOOLS),download)
DOWNLOAD := $(BIN)/download
$(DOWNLOAD): $(filter-out %_test.go,$(wildcard test/download/*.go))
	@mkdir -p $(BIN) && go build -o $@ ./test/download
endif

# The tools that this run gets, in their order. They are counted by a dry run, which has an empty list.
STEPS = $(eval STEPS := $(shell $(MAKE_COMMAND) --no-print-directory --dry-run STEPS= $(MAKEOVERRIDES) $(MAKECMDGOALS) 2>/dev/null | \
  sed -n 's|.*/step\.sh [^ ]*/\([^ /]*\) go build.*|\1|p' | awk '!seen[$$0]++'))$(STEPS)

# Paths of helm and kubectl in PATH, empty if their versions do not fit the demo: the minor version of helm is that of a
# tool module, and that of kubectl differs at most by one from the API server's, as Kubernetes supports it.
PATH_HELM    = $(call fitting,helm,version --short,^($(call minor,$(call pinned,helm,helm.sh/helm/v3))|$(call minor,$(call pinned,helm4,helm.sh/helm/v4)))\.)
PATH_KUBECTL = $(call fitting,kubectl,version --client,^Client Version: v$(KUBE_MAJOR)\.($(shell seq -s '|' $$(($(KUBE_MINOR) - 1)) $$(($(KUBE_MINOR) + 1))))\.)
fitting = $(shell path="$$(command -v $(1))" && "$$path" $(2) 2>/dev/null | grep -qE '$(3)' && echo "$$path")
minor   = $(subst $() ,\.,$(wordlist 1,2,$(subst ., ,$(1))))
DEMO_TOOLS = $(filter-out %/helm4 $(if $(PATH_HELM),%/helm) $(if $(PATH_KUBECTL),%/kubectl),$(CONTROL_PLANE))

##@ Downloads

.PHONY: downloads
downloads: ## Write test/tools/downloads.tsv, which TOOLS=download reads: the released programs of the pinned versions, with the digests that their vendors publish.
	go run ./test/download -entries $(DOWNLOADS) fill
