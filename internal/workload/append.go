// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"slices"
)

// AppendValues appends a text that differs wherever Values differs in one of the
// keys. It is what renderings are remembered by, and so takes less than a
// microsecond.
func (v *View) AppendValues(text []byte, keys []string) []byte {
	for _, key := range keys {
		text = appendTexts(text, key)
		switch key {
		case "kind":
			text = appendTexts(text, v.Kind)
		case "name":
			text = appendTexts(text, v.Name)
		case "namespace":
			text = appendTexts(text, v.Namespace)
		case "labels":
			text = appendMap(text, v.Labels)
		case "annotations":
			text = appendMap(text, v.Annotations)
		case "containers":
			text = v.appendContainers(text)
		}
	}
	return text
}

func (v *View) appendContainers(text []byte) []byte {
	for i := range v.Containers {
		c := &v.Containers[i]
		if c.Init || len(v.Owned) > 0 && v.OwnerOf(c.Name) != "" {
			continue
		}
		text = appendTexts(append(text, 'c'), c.Name)
		for _, port := range c.Ports {
			text = appendTexts(append(text, 'p'), port.Name, string(port.Protocol))
			text = binary.AppendVarint(text, int64(port.ContainerPort))
		}
		for _, mount := range c.Mounts {
			if len(v.Owned) > 0 && v.isOurVolume(mount.Name) {
				continue
			}
			text = appendTexts(append(text, 'm'), mount.Name, mount.MountPath, mount.SubPath, mount.SubPathExpr)
			if mount.SubPathExpr != "" {
				text = appendTexts(append(text, 'e'), jsonText(variableValues(c.Env, mount.SubPathExpr)))
			}
		}
	}
	return text
}

// appendTexts puts the length before each text, so that no two lists are the same.
func appendTexts(text []byte, parts ...string) []byte {
	for _, part := range parts {
		text = append(binary.AppendUvarint(text, uint64(len(part))), part...)
	}
	return text
}

func appendMap(text []byte, of map[string]string) []byte {
	text = binary.AppendUvarint(text, uint64(len(of)))
	var space [16]string
	keys := space[:0]
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		text = appendTexts(text, key, of[key])
	}
	return text
}
