// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// mostLines bounds what one answer says.
const mostLines = 10

// proven is the key of a context.
type proven struct{}

// Proven marks the context of a request whose sender has proven to be the API server,
// which tells what it is told to those alone who may write the VectorSidecar.
func Proven(ctx context.Context) context.Context { return context.WithValue(ctx, proven{}, true) }

func isProven(ctx context.Context) bool { return ctx.Value(proven{}) != nil }

// remark is something that is said of a VectorSidecar.
type remark struct {
	// reason is a word of package meta, or "".
	reason string
	text   string
	// isOld tells that it was so before.
	isOld bool
}

// String is the remark as it is told.
func (r remark) String() string {
	if r.isOld {
		return "as before: " + r.text
	}
	return r.text
}

func isIn(all []remark) func(remark) bool {
	return func(one remark) bool {
		return slices.ContainsFunc(all, func(r remark) bool { return r.text == one.text })
	}
}

// forgive makes doubts of faults that were there before.
func (j *judgement) forgive(before []remark) {
	isOld := isIn(before)
	for _, fault := range j.faults {
		if isOld(fault) {
			fault.isOld = true
			j.doubts = append(j.doubts, fault)
		}
	}
	j.faults = slices.DeleteFunc(j.faults, isOld)
}

// keep keeps the words of those remarks that are public, and of others the reason.
func (j *judgement) keep(public judgement, sidecar *v1alpha1.VectorSidecar) {
	isPublic := isIn(slices.Concat(public.faults, public.doubts))
	for _, remarks := range [][]remark{j.faults, j.doubts} {
		for i := range remarks {
			if isPublic(remarks[i]) {
				continue
			}
			text := fmt.Sprintf("VectorSidecar %s/%s", sidecar.Namespace, sidecar.Name)
			if remarks[i].reason != "" {
				text += ": " + remarks[i].reason
			}
			remarks[i].text = text + ": what is said of it may quote ConfigMaps, and so is told only to who may read them: kubectl vectorsidecar plan -n " + sidecar.Namespace + " --sidecar FILE"
		}
	}
}

// answer says what is wrong, and refuses because of faults.
func (j *judgement) answer() admission.Response {
	response := admission.Allowed("").WithWarnings(lines(j.doubts, true)...)
	if len(j.faults) == 0 {
		return response
	}
	response.Allowed = false
	response.Result = &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(lines(j.faults, false), "\n"),
	}
	return response
}

// lines are the first of some remarks, each once, and how many more there are. Those of
// a header are each on one line, as it needs them.
func lines(remarks []remark, ofHeader bool) []string {
	var all []string
	for _, remark := range remarks {
		text := humanize.EscapeBlock(remark.String())
		if ofHeader {
			text = humanize.EscapeLine(strings.Join(strings.Fields(remark.String()), " "))
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return humanize.First(all, mostLines, len(all))
}
