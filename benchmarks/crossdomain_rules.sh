#!/usr/bin/env bash
# What handing the gold spans in is worth: trains on the cross-domain 1-shot episodes and evaluates
# each test domain under both candidate rules.
#
#   benchmarks/crossdomain_rules.sh DATA ENCODER OUT [section.key=value ...]
#
# DATA holds ner_{train,valid,test}_{1..4}.json, ENCODER is a transformers directory or hub name,
# OUT receives DOMAIN.model.json and DOMAIN.released.json. The domains run side by side.
set -euo pipefail
data=${1:?DATA} encoder=${2:?ENCODER} out=${3:?OUT}
shift 3
spanproto=${SPANPROTO:-spanproto}
mkdir -p "$out"
run_domain() {
  local number=$1 domain=$2
  shift 2
  $spanproto train configs/crossdomain.yaml model.encoder.name="$encoder" \
    data.train="$data/ner_train_$number.json" data.valid="$data/ner_valid_$number.json" \
    training.output="runs/crossdomain-$domain" "$@"
  for rule in model released; do
    $spanproto evaluate "runs/crossdomain-$domain" "$data/ner_test_$number.json" \
      --protocol crossdomain --candidates "$rule" --output "$out/$domain.$rule.json"
  done
}
pids=()
number=0
for domain in news wiki social ontonotes; do
  number=$((number + 1))
  run_domain "$number" "$domain" "$@" > "$out/$domain.log" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
tail -n 3 "$out"/*.log
