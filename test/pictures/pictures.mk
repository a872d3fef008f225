# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

PICTURES := test/pictures/recorded

.PHONY: pictures
pictures: build control-plane ## Record commands of the plugin, a rollout in waves and the demo, and draw docs/pictures.
	go run ./test/demo -once > $(BIN)/demo.log
	{ echo '$$ make demo DEMO=once'; echo '…'; sed -nE '/^As shown/,/^ +[0-9.]+ s *$$/p' $(BIN)/demo.log; } > $(PICTURES)/demo.txt
	go test -count=1 ./test/docs -run 'TestDocs_RunCommandsOfTutorials/rollout-in-waves' -update
	go test -count=1 ./test/pictures -update
