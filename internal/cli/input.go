// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// input is what the files hold. Kinds that play no part are left out.
type input struct {
	sidecar     *v1alpha1.VectorSidecar
	deployments []*appsv1.Deployment
	configMaps  []*corev1.ConfigMap
}

// readInput reads workloads and ConfigMaps from files, and the VectorSidecar,
// with any ConfigMaps beside it, from its own. Objects that name no namespace are
// taken to be in the VectorSidecar's.
func readInput(files []string, sidecar string) (*input, error) {
	in := &input{}
	for _, file := range append([]string{sidecar}, files...) {
		if err := in.readFile(file); err != nil {
			return nil, err
		}
	}
	if in.sidecar == nil {
		return nil, fmt.Errorf("%s: there is no VectorSidecar in it", sidecar)
	}
	if in.sidecar.Namespace == "" {
		in.sidecar.Namespace = "default"
	}
	var inNamespace []*appsv1.Deployment
	for _, deployment := range in.deployments {
		if deployment.Namespace == "" {
			deployment.Namespace = in.sidecar.Namespace
		}
		if deployment.Namespace == in.sidecar.Namespace {
			inNamespace = append(inNamespace, deployment)
		}
	}
	in.deployments = inNamespace
	return in, nil
}

// configMap returns a ConfigMap of the VectorSidecar's namespace, nil if there is
// none.
func (in *input) configMap(name string) *corev1.ConfigMap {
	for _, object := range in.configMaps {
		if object.Name == name && (object.Namespace == "" || object.Namespace == in.sidecar.Namespace) {
			return object
		}
	}
	return nil
}

func (in *input) readFile(file string) error {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(os.Stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = in.add(document)
		}
		if err != nil {
			return fmt.Errorf("%s: document %d: %w", file, n, err)
		}
	}
}

func (in *input) add(document []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "Deployment":
		deployment := &appsv1.Deployment{}
		in.deployments = append(in.deployments, deployment)
		return yaml.UnmarshalStrict(document, deployment)
	case "ConfigMap":
		object := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return err
		}
		in.configMaps = append(in.configMaps, object)
	case "VectorSidecar":
		if in.sidecar != nil {
			return errors.New("a second VectorSidecar: give one at a time")
		}
		in.sidecar = &v1alpha1.VectorSidecar{}
		return yaml.UnmarshalStrict(document, in.sidecar)
	}
	return nil
}
