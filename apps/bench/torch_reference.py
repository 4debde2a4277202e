"""PyTorch's side of the benchmarks: one JSON command a line on standard input, one JSON answer a line on standard output.

{"case": "cnn", "steps": 20} -> {"ms": milliseconds per step}. The process keeps its models between commands, so that
rounds of several programs can alternate. The first answer names the version, the threads and the BLAS that was loaded.
"""
import json
import sys
import time

import torch
from torch import nn

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
torch.manual_seed(1)


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10),
    )


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


class Block(nn.Module):
    """A pre-norm transformer block with self-attention over the batch-first sequence."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down, self.gelu = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.GELU()

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Training:
    def __init__(self, model, x, target, loss):
        self.model, self.x, self.target, self.loss = model, x, target, loss
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(self.x), self.target).backward()
        self.optimizer.step()


class Inference:
    def __init__(self, model, x):
        self.model, self.x = model.eval(), x

    @torch.no_grad()
    def step(self):
        self.model(self.x)


CASES = {
    "cnn": lambda: Training(cnn(), torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,)), nn.CrossEntropyLoss()),
    "mlp": lambda: Training(mlp(), torch.rand(64, 784), torch.randint(0, 10, (64,)), nn.CrossEntropyLoss()),
    "transformer": lambda: Training(nn.Sequential(Block(128, 8), Block(128, 8)), torch.rand(16, 64, 128), torch.rand(16, 64, 128), nn.MSELoss()),
    "infer1": lambda: Inference(cnn(), torch.rand(1, 1, 28, 28)),
    "infer256": lambda: Inference(cnn(), torch.rand(256, 1, 28, 28)),
}


def loaded_blas():
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "blas" in line}
    return sorted(paths)


def main():
    running = {}
    torch.rand(64, 64) @ torch.rand(64, 64)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(), "blas": loaded_blas()}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        case = running.setdefault(command["case"], None) or CASES[command["case"]]()
        running[command["case"]] = case
        start = time.perf_counter()
        for _ in range(command["steps"]):
            case.step()
        print(json.dumps({"ms": (time.perf_counter() - start) * 1000 / command["steps"]}), flush=True)


main()
