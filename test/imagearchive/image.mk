# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Platforms of the images. Images for a node of this machine have its platform only.
PLATFORMS = linux/amd64,linux/arm64
real-node: PLATFORMS = linux/$(shell go env GOARCH)

##@ Images

.PHONY: image
image: $(BIN)/ko ## Build the images of the operator and of the drain gate, without a container engine or a registry: OCI layouts in bin/image and bin/image-drain-gate, lists of their parts (SPDX) beside them, and one archive of both, bin/images.tar, for container engines. PUSH=true pushes them to IMAGE and IMAGE-drain-gate.
	@rm -rf $(BIN)/image $(BIN)/image.sbom $(BIN)/image-drain-gate $(BIN)/image-drain-gate.sbom $(BIN)/ko-cache/img
	@mkdir -p $(BIN)/ko-cache && cp -R $(TOOLS)/ko/base $(BIN)/ko-cache/img
	$(call ko,operator,)
	$(call ko,drain-gate,-drain-gate)
	@go run ./test/imagearchive $(BIN)/images.tar $(IMAGE):$(VERSION)=$(BIN)/image $(IMAGE)-drain-gate:$(VERSION)=$(BIN)/image-drain-gate

# $(call ko,program,suffix of the image's name)
define ko
KOCACHE=$(CURDIR)/$(BIN)/ko-cache KO_DOCKER_REPO=$(IMAGE)$(2) TAGS='$(TAGS)' LDFLAGS='$(LDFLAGS)' $(BIN)/ko build --bare --tags=$(VERSION) \
  --push=$(or $(PUSH),false) --oci-layout-path=$(BIN)/image$(2) --sbom=spdx --sbom-dir=$(BIN)/image$(2).sbom \
  --platform='$(PLATFORMS)' --image-user=65532:65532 ./cmd/$(1)
endef
