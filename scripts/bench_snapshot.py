#!/usr/bin/env python3
"""Writes a memory snapshot of PyTorch in which every event has a list of frames of its own: twelve to thirty frames, in
24,000 combinations. Tensors come and go at random within segments that grow, some 20,000 at a time.

usage: scripts/bench_snapshot.py EVENTS FILE

It takes about a gigabyte of memory for each million events.
"""

import gc
import pickle
import random
import sys

BASE = 0x7F00_0000_0000
SEGMENT, PLACE = 20 << 20, 256 << 10
LIVE = 20_000
SIZES = (400, 65_536, 131_072, 200_000, 262_144, 250_000)


def frame(number):
    """A third of the frames is of C++, as PyTorch records them."""
    if number % 3 == 0:
        return {"name": f"at::native::op_{number % 900}(at::Tensor const&)", "filename": "??", "line": 0}
    own = number % 5 == 0
    file = f"/home/me/model_{number % 60}.py" if own else f"/opt/lib/python3.11/site-packages/torch/nn/modules/m{number % 80}.py"
    return {"name": f"forward_{number % 700}", "filename": file, "line": number % 1500}


class Run:
    def __init__(self):
        frames = [frame(number) for number in range(6000)]
        pick = lambda: [random.choice(frames) for _ in range(random.randrange(12, 31))]
        self.stacks = [pick() for _ in range(24_000)]
        self.events, self.segments, self.free, self.live, self.sizes = [], [], [], [], {}
        self.time = 1_700_000_000_000_000

    def stack(self):
        return list(random.choice(self.stacks))

    def event(self, action, address, size):
        self.time += random.randrange(1, 9)
        self.events.append({
            "action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time, "frames": self.stack(),
            # As PyTorch makes them, a new text and a new tuple for each event.
            "compile_context": b"N/A".decode(), "user_metadata": "", "pool_id": (0, 0 * self.time),
        })

    def step(self):
        if not self.free:
            start = BASE + len(self.segments) * SEGMENT
            self.segments.append(start)
            self.event("segment_map", start, SEGMENT)
            self.free = list(range(start, start + SEGMENT, PLACE))
            random.shuffle(self.free)
        address, size = self.free.pop(), random.choice(SIZES)
        self.event("alloc", address, size)
        self.live.append(address)
        self.sizes[address] = size
        if len(self.live) > LIVE or random.random() < 0.45:
            at = random.randrange(len(self.live))
            self.live[at], self.live[-1] = self.live[-1], self.live[at]
            gone = self.live.pop()
            self.event("free_requested", gone, self.sizes[gone])
            self.event("free_completed", gone, self.sizes[gone])
            self.free.append(gone)

    def snapshot(self):
        live = set(self.live)
        segments = []
        for start in self.segments:
            blocks, active = [], 0
            for address in range(start, start + SEGMENT, PLACE):
                taken = -(-self.sizes[address] // 512) * 512 if address in live else 0
                if taken:
                    blocks.append({
                        "address": address, "size": taken, "requested_size": self.sizes[address],
                        "state": "active_allocated", "frames": self.stack(),
                    })
                    active += taken
                if taken < PLACE:
                    blocks.append({
                        "address": address + taken, "size": PLACE - taken, "requested_size": 0, "state": "inactive",
                        "frames": [],
                    })
            segments.append({
                "device": 0, "address": start, "total_size": SEGMENT, "allocated_size": active, "active_size": active,
                "requested_size": active, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                "is_expandable": True, "blocks": blocks, "frames": self.stacks[0],
            })
        settings = {"expandable_segments": True, "max_split_size": -1}
        return {
            "segments": segments, "device_traces": [self.events], "allocator_settings": settings,
            "external_annotations": [],
        }


def main():
    count, path = int(sys.argv[1]), sys.argv[2]
    gc.disable()
    random.seed(1)
    run = Run()
    while len(run.events) < count:
        run.step()
    with open(path, "wb") as file:
        pickle.dump(run.snapshot(), file, protocol=4)


if __name__ == "__main__":
    main()
