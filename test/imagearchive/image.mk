# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# Platforms of the images. Images for a container engine or a node of this machine have its platform only.
PLATFORMS = linux/amd64,linux/arm64
docker-build kind-load real-node: PLATFORMS = linux/$(shell go env GOARCH)

# The cluster that kind creates. The version of its node image is a row of docs/reference/support.md.
KIND_CLUSTER    ?= vso
KIND_NODE_IMAGE ?= kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5

# The container engine of this machine: the first of those that kind uses, in its order.
ENGINE = $(firstword $(foreach name,docker nerdctl podman,$(shell command -v $(name))))

##@ Images and kind

.PHONY: image image-name docker-build kind-up kind-load kind-down container-engine
image: image-name $(BIN)/ko ## Build the images of the operator and of the drain gate, without a container engine or a registry: OCI layouts in bin/image and bin/image-drain-gate, lists of their parts (SPDX) beside them, and one archive of both, bin/images.tar, for container engines. PUSH=true pushes them to IMAGE, which must be set, and IMAGE-drain-gate.
	@rm -rf $(BIN)/image $(BIN)/image.sbom $(BIN)/image-drain-gate $(BIN)/image-drain-gate.sbom $(BIN)/ko-cache/img
	@mkdir -p $(BIN)/ko-cache && cp -R $(MODULES)/ko/base $(BIN)/ko-cache/img
	$(call ko,operator,)
	$(call ko,drain-gate,-drain-gate)
	@go run ./test/imagearchive $(BIN)/images.tar $(IMAGE):$(VERSION)=$(BIN)/image $(IMAGE)-drain-gate:$(VERSION)=$(BIN)/image-drain-gate

# The default of IMAGE is the name in the chart, whose registry has the released images.
image-name:
	@[ '$(or $(PUSH),false)' = false ] || [ '$(origin IMAGE)' != file ] || \
	  { echo 'pushing the images: IMAGE is not set; set IMAGE to a repository in your registry, such as registry.example.com/you/vector-sidecar-operator' >&2; exit 2; }

# $(call ko,program,suffix of the image's name)
define ko
KOCACHE=$(CURDIR)/$(BIN)/ko-cache KO_DOCKER_REPO=$(IMAGE)$(2) TAGS='$(TAGS)' LDFLAGS='$(LDFLAGS)' $(BIN)/ko build --bare --tags=$(VERSION) \
  --push=$(or $(PUSH),false) --oci-layout-path=$(BIN)/image$(2) --sbom=spdx --sbom-dir=$(BIN)/image$(2).sbom \
  --platform='$(PLATFORMS)' --image-user=65532:65532 ./cmd/$(1)
endef

docker-build: container-engine image ## Build the images, and load them into Docker or Podman.
	$(ENGINE) load --input=$(BIN)/images.tar

kind-up: container-engine $(BIN)/kind ## Create the cluster KIND_CLUSTER of one node with kind, in Docker or Podman.
	$(BIN)/kind create cluster --name=$(KIND_CLUSTER) --image=$(KIND_NODE_IMAGE) --wait=5m

kind-load: container-engine $(BIN)/kind image ## Build the images, and load them into the cluster of kind, where the chart finds them.
	$(BIN)/kind load image-archive $(BIN)/images.tar --name=$(KIND_CLUSTER)

kind-down: container-engine $(BIN)/kind ## Delete the cluster of kind.
	$(BIN)/kind delete cluster --name=$(KIND_CLUSTER)

container-engine:
	@test -n '$(ENGINE)' || { echo 'finding a container engine: no docker, nerdctl or podman in PATH; install Docker (https://docs.docker.com/get-started/get-docker/) or Podman (https://podman.io/docs/installation)' >&2; exit 2; }
