"""A small training on the device, for the tests: `training.py [end|raise|oom|sigterm|ranks|ranks-oom]`."""

import os
import sys
import time

import torch


def train(width=512, steps=3):
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        model(torch.randn(64, width, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def take_all():
    return [torch.empty(1 << 26, device="cuda") for _ in range(1000)]


def main(how):
    if not how.startswith("ranks"):
        train()
        if how == "raise":
            raise ValueError("what was wrong")
        if how == "oom":
            take_all()
        if how == "sigterm":
            os.kill(os.getpid(), 15)
        return
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    train(256 * (1 + rank))
    torch.distributed.barrier()
    if how == "ranks-oom":
        if rank == 2:
            take_all()
        time.sleep(60)  # until the launcher ends it
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "end")
