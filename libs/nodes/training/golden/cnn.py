#!/usr/bin/env python3
"""What PyTorch makes of a small convolutional network in 50 steps of Adam, as a fixture for cnn-golden.spec.ts.

Run with an interpreter that has PyTorch: /usr/bin/python3 libs/nodes/training/golden/cnn.py
Writes cnn.json (what was computed) and cnn.safetensors (rows, targets, weights before and after).
"""
import json
import os
import struct
import sys

import torch
from torch import nn

STEPS, BATCH, EPOCHS = 50, 16, 13
LR, STEP_SIZE, GAMMA, CLIP = 0.01, 5, 0.5, 1.0
HERE = os.path.dirname(os.path.abspath(__file__))


def network():
    # No bias before a normalisation: its gradient is zero but for rounding, which Adam would blow up to whole steps.
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 5),
    )


def rows(count):
    """Images of noise with a bright row whose place is the class."""
    labels = torch.randint(0, 5, (count,))
    images = torch.randn(count, 1, 8, 8) * 0.5
    images[torch.arange(count), 0, labels + 1] += 1.5
    return images, labels


def evaluate(model, loss, images, labels):
    model.eval()
    with torch.no_grad():
        parts = [(model(images[i:i + BATCH]), labels[i:i + BATCH]) for i in range(0, len(labels), BATCH)]
        losses = [loss(out, target).item() for out, target in parts]
        correct = sum((out.argmax(1) == target).sum().item() for out, target in parts)
    return sum(losses) / len(losses), correct / len(labels)


def weights(model, group):
    return {f"{group}/{name}": value.detach().clone() for name, value in model.state_dict().items()}


def save(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        raw = value.contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.int64: "I64"}[value.dtype]
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(20240611)
    torch.set_num_threads(1)
    images, labels = rows(62)
    val_images, val_labels = rows(24)
    model, loss = network(), nn.CrossEntropyLoss()
    before = weights(model, "before")
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, STEP_SIZE, GAMMA)
    losses, norms, validation = [], [], []
    for _ in range(EPOCHS):
        model.train()
        for start in range(0, len(labels), BATCH):
            if len(losses) == STEPS:
                break
            optimizer.zero_grad()
            value = loss(model(images[start:start + BATCH]), labels[start:start + BATCH])
            value.backward()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), CLIP).item())
            optimizer.step()
            losses.append(value.item())
        validation.append(evaluate(model, loss, val_images, val_labels))
        scheduler.step()
    found = {
        "torch": torch.__version__, "steps": STEPS, "batch": BATCH, "epochs": EPOCHS, "lr": LR,
        "step_size": STEP_SIZE, "gamma": GAMMA, "clip": CLIP, "losses": losses, "norms": norms,
        "val_losses": [value for value, _ in validation], "val_accuracies": [share for _, share in validation],
    }
    with open(os.path.join(HERE, "cnn.json"), "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    data = {"features": images, "labels": labels, "val_features": val_images, "val_labels": val_labels}
    save(os.path.join(HERE, "cnn.safetensors"), {**data, **before, **weights(model, "after")})
    print(f"{losses[0]:.4f} -> {losses[-1]:.4f}, {validation[-1]}, {sum(norm > CLIP for norm in norms)} steps clipped", file=sys.stderr)


main()
