#!/usr/bin/env python3
"""Learning rates that PyTorch's schedulers give, epoch by epoch, as a fixture for schedules.spec.ts.

Run with an interpreter that has PyTorch: /usr/bin/python3 libs/nodes/training/golden/schedules.py
"""
import json
import os
import sys
import warnings

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR

CASES = [
    ("StepLR", 0.1, {"step_size": 10, "gamma": 0.1}, 35),
    ("StepLR", 0.001, {"step_size": 1, "gamma": 0.9}, 25),
    ("StepLR", 0.5, {"step_size": 3, "gamma": 1.5}, 20),
    ("CosineAnnealingLR", 0.1, {"T_max": 50}, 50),
    ("CosineAnnealingLR", 0.001, {"T_max": 7}, 40),
    ("CosineAnnealingLR", 0.3, {"T_max": 1}, 9),
    ("CosineAnnealingLR", 1.0, {"T_max": 2}, 11),
]


def rates(kind, lr, params, steps):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = {"StepLR": StepLR, "CosineAnnealingLR": CosineAnnealingLR}[kind](optimizer, **params)
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def main():
    warnings.simplefilter("ignore")
    cases = [
        {"type": kind, "lr": lr, "params": params, "rates": rates(kind, lr, params, steps)}
        for kind, lr, params, steps in CASES
    ]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schedules.json")
    with open(path, "w") as file:
        json.dump({"torch": torch.__version__, "cases": cases}, file, indent=1)
        file.write("\n")
    print(path, len(cases), "cases", file=sys.stderr)


main()
