# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

##@ Release

# Platforms of the kubectl plugin's archives, as in .krew.yaml.
PLUGIN_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

.PHONY: plugin-archives
plugin-archives: ## Pack the kubectl plugin for each of PLUGIN_PLATFORMS into bin/plugin, with the plugin.yaml of the post-renderer for Helm 4. Clones of one commit pack equal archives.
	@rm -rf $(BIN)/plugin
	@for platform in $(PLUGIN_PLATFORMS); do \
	  to=$(BIN)/plugin/kubectl-vectorsidecar-$${platform/\//-}; \
	  CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o $$to/ ./cmd/kubectl-vectorsidecar; \
	  cp LICENSE $$to; sed 's/^version: .*/version: $(VERSION)/' helm-plugin/plugin.yaml > $$to/plugin.yaml; \
	done
	@go run ./test/pluginarchive -time "$$(git log -1 --format=%ct)" $(BIN)/plugin/kubectl-vectorsidecar-*
