# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

.PHONY: release release-version install-manifest test-release
# A later toolchain that is installed would build other programs.
release: export GOTOOLCHAIN = $(shell awk '$$1 == "toolchain" {print $$2}' go.mod)
release: PUSH = $(if $(filter 1,$(DRY_RUN)),false,true)
release: release-version image plugin-archives install-manifest ## Write the files of release VERSION into bin/release: image archive and lists of parts, charts, plugin archives, krew manifest, install.yaml, release notes, provenance and checksums. Clones of one commit write equal files. Without DRY_RUN=1, push the images and the chart.
	@rm -rf $(BIN)/release $(BIN)/chart && mkdir -p $(BIN)/release $(BIN)/chart
	@cp $(BIN)/plugin/*.tar.gz $(BIN)/images.tar $(BIN)/install.yaml $(BIN)/image.sbom/*.spdx.json $(BIN)/image-drain-gate.sbom/*.spdx.json $(BIN)/release/
	@$(BIN)/helm package chart --destination $(BIN)/chart >/dev/null && tar -xzmf $(BIN)/chart/*.tgz -C $(BIN)/chart
	@go run ./test/pluginarchive -time "$$(git log -1 --format=%ct)" $(BIN)/chart/vector-sidecar-operator
	@mv $(BIN)/chart/vector-sidecar-operator.tar.gz $(BIN)/release/vector-sidecar-operator-$(VERSION).tgz
	@go run ./test/release -version $(VERSION) -commit "$$(git rev-parse HEAD)" $(BIN)/release $(IMAGE)=$(BIN)/image $(IMAGE)-drain-gate=$(BIN)/image-drain-gate
	@cat $(BIN)/release/SHA256SUMS
	$(if $(filter true,$(PUSH)),$(BIN)/helm push $(BIN)/release/vector-sidecar-operator-$(VERSION).tgz oci://$(dir $(IMAGE))charts)

install-manifest: $(BIN)/helm ## Write bin/install.yaml: the chart with its default values, and its namespace, for kubectl apply --server-side.
	@{ printf 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n' $(NAMESPACE); \
	  $(BIN)/helm template $(RELEASE) chart --namespace $(NAMESPACE) --no-hooks --kube-version $(KUBE_VERSION); } > $(BIN)/install.yaml

# Images and chart that are pushed cannot be changed, so they must come from the tagged commit.
release-version:
	@chart="$$(awk '/^version:/ {print $$2}' chart/Chart.yaml)"; \
	[ "$$chart" = '$(VERSION)' ] || { echo "releasing $(VERSION): chart/Chart.yaml has version $$chart" >&2; exit 2; }
	@[ '$(DRY_RUN)' = 1 ] || { [ -z "$$(git status --porcelain)" ] && [ "$$(git describe --tags --exact-match 2>/dev/null)" = 'v$(VERSION)' ]; } || \
	  { echo 'releasing $(VERSION): the tree is not the commit with the tag v$(VERSION); set DRY_RUN=1 to release nothing' >&2; exit 2; }

test-release: ## Make the release of the last commit in two clones in different folders, and compare their files.
	go test -count=1 -v -timeout 60m -run TestRelease_IsEqualInTwoClones ./test/release -full
