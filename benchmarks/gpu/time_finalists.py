"""Times the best candidates of a row and PyTorch's ways in turns, in one process; prints the medians as its last line.

python time_finalists.py FOLDER ROW INDICES none|eager|all
"""

import json
import pathlib
import sys

import timing
import torch
import workload


def main():
    folder, name, indices, which = pathlib.Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4]
    row = next(row for row in json.loads((folder / "manifest.json").read_text()) if row["name"] == name)
    arguments = workload.arguments_of(row, "cuda")
    timer = timing.Timer()
    calls = {}
    for index in indices:
        call = workload.load(folder, row["candidates"][int(index)])
        calls[str(index)] = lambda call=call: call(*arguments)
    peers = {}
    for peer, call in workload.peers_of(row, arguments, which).items():
        try:
            call()
            torch.cuda.synchronize()
            peers[peer] = call
        except Exception as problem:
            print(f"{peer}: {type(problem).__name__}: {str(problem)[:200]}", file=sys.stderr)
    for call in calls.values():
        call()
    found = timer.in_turns(calls | peers, rounds=5, each=10)
    print(json.dumps({"finalists": {key: found[key] for key in calls}, "peers": {key: found[key] for key in peers},
                      "device": torch.cuda.get_device_name(), "torch": torch.__version__}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
