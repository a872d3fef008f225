// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

var argoRollouts = workload.KindByName("Rollout")

// argoController is the field manager of the status of Rollouts in these tests.
const argoController = "rollouts-controller"

// rollOut sets the status of all Rollouts to rolled out, as their controller does for Rollouts without pods. These
// tests need only the operator's writes, not pods. test/rollouts runs the controller itself, which takes minutes to
// build.
func rollOut(ctx context.Context) error {
	watching, err := client.NewWithWatch(world.Config, client.Options{Scheme: world.Client.Scheme()})
	if err != nil {
		return err
	}
	go func() {
		for ctx.Err() == nil {
			if stream, err := watching.Watch(ctx, argoRollouts.NewList().(client.ObjectList)); err == nil {
				for event := range stream.ResultChan() {
					if rollout, isOne := event.Object.(workload.Object); isOne && event.Type != watch.Deleted {
						_ = settle(ctx, rollout) // It is tried again with the next event, or the next watch.
					}
				}
			}
			_ = pause(ctx) // The end of the context ends the loop.
		}
	}()
	return nil
}

// settle sets the status of a Rollout to rolled out if it is not already.
func settle(ctx context.Context, rollout workload.Object) error {
	seen := fmt.Sprint(rollout.GetGeneration())
	if content, _ := workload.Read(rollout); content.Observed {
		return nil
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(text(workload.PodTemplate(rollout)))) // It never fails.
	hash := fmt.Sprint(sum.Sum32())
	body, err := json.Marshal(map[string]any{"status": map[string]any{
		"observedGeneration": seen, "phase": "Healthy", "currentPodHash": hash, "stableRS": hash,
	}})
	if err != nil {
		return err
	}
	return world.Client.Status().Patch(ctx, rollout, client.RawPatch(types.MergePatchType, body), client.FieldOwner(argoController))
}
