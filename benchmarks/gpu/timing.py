"""Times on the device: medians over events, with the L2 cache flushed before each call."""

import statistics

import torch


class Timer:
    def __init__(self):
        # Larger than any L2 cache there is.
        self.flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def samples(self, call, count):
        """Microseconds of `count` calls."""
        starts = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(count)]
        for start, end in zip(starts, ends):
            self.flush.zero_()
            start.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in zip(starts, ends)]

    def median(self, call, count):
        return statistics.median(self.samples(call, count))

    def in_turns(self, calls, rounds, each):
        """Medians of several calls, taken in turns so that a change of clocks meets all of them."""
        found = {name: [] for name in calls}
        for _ in range(rounds):
            for name, call in calls.items():
                found[name] += self.samples(call, each)
        return {name: statistics.median(times) for name, times in found.items()}
