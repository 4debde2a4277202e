#!/usr/bin/python3
"""Writes golden.json and golden.safetensors: PyTorch's results for the vocabulary of the tensor seam.

Run with an interpreter that has PyTorch (1.13 or later, CPU): /usr/bin/python3 make_golden.py
Every case states its inputs, weights, outputs and gradients, so that a runtime needs no random stream of PyTorch's.
The loss of a differentiable case is sum(output * upstream), with a random upstream.
"""
import hashlib
import json
import os
import struct

import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
TENSORS = {}
CASES = []
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def put(name, tensor):
    """Stores a tensor (once per content) and returns the key under which the fixture holds it."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype not in (torch.float32, torch.int64):
        raise TypeError(f"{name}: {tensor.dtype}")
    TENSORS[name] = tensor.clone()
    return name


def uniform(*shape, low=-1.0, high=1.0):
    return torch.rand(tuple(shape)) * (high - low) + low


class Model(nn.Module):
    """A module of the seam: nodes in topological order, each a torch module or a function of its sources."""

    def __init__(self, nodes):
        super().__init__()
        self.order = nodes
        for node in nodes:
            if isinstance(node["run"], nn.Module):
                self.add_module(node["id"], node["run"])

    def forward(self, **inputs):
        values = dict(inputs)
        for node in self.order:
            args = [values[s.partition("#")[0]] for s in node["from"]]
            values[node["id"]] = node["run"](*args)
        return values


def source(name, inputs):
    if name in inputs:
        return {"input": name}
    node, _, index = name.partition("#")
    return {"node": node, "output": int(index)} if index else {"node": node}


def module_case(name, nodes, inputs, outputs, mode="train", integer_inputs=()):
    """nodes: [id, layer name, params, sources, torch module or function]; outputs: port -> node id."""
    parts = [{"id": n[0], "from": n[3], "run": n[4]} for n in nodes]
    model = Model(parts)
    model.train(mode == "train")
    before = {k: v.clone() for k, v in model.state_dict().items()}
    leaves = {k: v.clone().requires_grad_(k not in integer_inputs) for k, v in inputs.items()}
    values = model(**leaves)
    results = {port: values[node] for port, node in outputs.items()}
    upstream = {port: uniform(*result.shape) for port, result in results.items()}
    loss = sum((results[port] * upstream[port]).sum() for port in results)
    wanted = [v for k, v in leaves.items() if k not in integer_inputs] + list(model.parameters())
    gradients = torch.autograd.grad(loss, wanted, allow_unused=True) if wanted else []
    grads = dict(zip([f"input:{k}" for k in leaves if k not in integer_inputs] + [f"weight:{k}" for k, _ in model.named_parameters()], gradients))
    after = {k: v for k, v in model.state_dict().items() if k in dict(model.named_buffers())}
    key = f"m{len(CASES)}"
    CASES.append({
        "name": name,
        "kind": "module",
        "mode": mode,
        "spec": {
            "inputs": list(inputs),
            "outputs": [{"port": port, "from": source(node, inputs)} for port, node in outputs.items()],
            "nodes": [{"id": n[0], "from": [source(s, inputs) for s in n[3]], "layer": n[1], "params": n[2]} for n in nodes],
        },
        "inputs": {k: put(f"{key}/in/{k}", v) for k, v in inputs.items()},
        "weights": {k: put(f"{key}/w/{k}", v) for k, v in before.items()},
        "outputs": {k: put(f"{key}/out/{k}", v) for k, v in results.items()},
        "upstream": {k: put(f"{key}/up/{k}", v) for k, v in upstream.items()},
        "gradients": {k: put(f"{key}/g/{k}", v) for k, v in grads.items() if v is not None},
        "buffers": {k: put(f"{key}/b/{k}", v) for k, v in after.items()} if mode == "train" else {},
    })


def layer_case(name, layer, params, x, run, mode="train", integer=False):
    module_case(name, [["l", layer, params, ["x"], run]], {"x": x}, {"y": "l"}, mode, ("x",) if integer else ())


def torch_layer(name, layer, params, x, mode="train", integer=False):
    layer_case(f"{layer} {name}", layer, params, x, getattr(nn, layer)(**params), mode, integer)


def op_case(name, op, attrs, inputs, run, differentiable=True, outputs=1):
    leaves = [x.clone().requires_grad_(differentiable and x.dtype == torch.float32) for x in inputs]
    results = run(*leaves)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    assert len(results) == outputs, name
    key = f"o{len(CASES)}"
    case = {
        "name": f"{op} {name}", "kind": "op", "op": op, "attrs": attrs,
        "inputs": [put(f"{key}/in/{i}", x) for i, x in enumerate(inputs)],
        "outputs": [put(f"{key}/out/{i}", y if y.dtype in (torch.float32, torch.int64) else y.to(torch.int64)) for i, y in enumerate(results)],
        "gradients": {},
    }
    if differentiable:
        floats = [(i, y) for i, y in enumerate(results) if y.dtype == torch.float32 and y.requires_grad]
        upstream = {i: uniform(*y.shape) for i, y in floats}
        loss = sum((y * upstream[i]).sum() for i, y in floats)
        wanted = [(i, x) for i, x in enumerate(leaves) if x.requires_grad]
        grads = torch.autograd.grad(loss, [x for _, x in wanted], allow_unused=True)
        case["upstream"] = {str(i): put(f"{key}/up/{i}", u) for i, u in upstream.items()}
        case["gradients"] = {str(i): put(f"{key}/g/{i}", g) for (i, _), g in zip(wanted, grads) if g is not None}
    CASES.append(case)


def loss_case(name, spec, output, target, loss):
    x = output.clone().requires_grad_(True)
    value = loss(x, target)
    upstream = uniform(*value.shape) if value.dim() else torch.ones(())
    (gradient,) = torch.autograd.grad((value * upstream).sum(), [x])
    key = f"l{len(CASES)}"
    CASES.append({"name": f"{spec['type']} {name}", "kind": "loss", "spec": spec, "output": put(f"{key}/x", output), "target": put(f"{key}/t", target),
                  "value": put(f"{key}/v", value), "upstream": put(f"{key}/up", upstream), "gradient": put(f"{key}/g", gradient)})


def training_case(name, nodes, inputs, target, loss_spec, loss, optimizer_spec, make_optimizer, steps, clip=None):
    """`steps` optimiser steps on one batch; losses and final weights."""
    parts = [{"id": n[0], "from": n[3], "run": n[4]} for n in nodes]
    model = Model(parts)
    model.train()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    optimizer = make_optimizer(model.parameters())
    losses, norms = [], []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model(**inputs)[nodes[-1][0]], target)
        value.backward()
        if clip:
            norms.append(float(nn.utils.clip_grad_norm_(model.parameters(), clip)))
        optimizer.step()
        losses.append(float(value))
    key = f"t{len(CASES)}"
    CASES.append({
        "name": name, "kind": "training", "loss": loss_spec, "optimizer": optimizer_spec, "clip": clip,
        "spec": {"inputs": list(inputs), "outputs": [{"port": "y", "from": {"node": nodes[-1][0]}}],
                 "nodes": [{"id": n[0], "from": [source(s, inputs) for s in n[3]], "layer": n[1], "params": n[2]} for n in nodes]},
        "inputs": {k: put(f"{key}/in/{k}", v) for k, v in inputs.items()}, "target": put(f"{key}/t", target),
        "weights": {k: put(f"{key}/w/{k}", v) for k, v in before.items()},
        "after": {k: put(f"{key}/a/{k}", v) for k, v in model.state_dict().items()},
        "losses": put(f"{key}/losses", torch.tensor(losses)), "norms": put(f"{key}/norms", torch.tensor(norms)) if clip else None,
    })


def chain(layers):
    """[(layer, params, torch module)] -> nodes of a chain from input x."""
    nodes, previous = [], "x"
    for i, (layer, params, run) in enumerate(layers):
        nodes.append([f"n{i}", layer, params, [previous], run])
        previous = f"n{i}"
    return nodes


def tl(layer, **params):
    return (layer, params, getattr(nn, layer)(**params))


def main():
    torch.manual_seed(20240611)
    # ---- layers
    for shape in [(3, 4), (2, 3, 4), (5, 1)]:
        torch_layer(f"{shape}", "Linear", {"in_features": shape[-1], "out_features": 3}, uniform(*shape))
    torch_layer("without bias", "Linear", {"in_features": 4, "out_features": 6, "bias": False}, uniform(3, 4))
    conv = [
        ("3x3 padding 1", {"in_channels": 2, "out_channels": 4, "kernel_size": 3, "padding": 1}, (2, 2, 6, 5)),
        ("one channel", {"in_channels": 1, "out_channels": 8, "kernel_size": 3, "padding": 1}, (3, 1, 7, 7)),
        ("ten channels", {"in_channels": 10, "out_channels": 9, "kernel_size": 3, "padding": 1}, (2, 10, 6, 6)),
        ("stride 2", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "stride": 2, "padding": 1}, (2, 3, 8, 7)),
        ("stride 2 with a remainder", {"in_channels": 9, "out_channels": 2, "kernel_size": 3, "stride": 2}, (1, 9, 8, 9)),
        ("stride 3,1", {"in_channels": 2, "out_channels": 3, "kernel_size": [3, 2], "stride": [3, 1], "padding": [1, 0]}, (2, 2, 9, 5)),
        ("dilation 2", {"in_channels": 3, "out_channels": 2, "kernel_size": 3, "dilation": 2, "padding": 2}, (2, 3, 8, 8)),
        ("dilation 2 stride 2", {"in_channels": 8, "out_channels": 2, "kernel_size": 3, "dilation": 2, "stride": 2}, (1, 8, 9, 9)),
        ("groups 2", {"in_channels": 4, "out_channels": 6, "kernel_size": 3, "groups": 2, "padding": 1}, (2, 4, 5, 6)),
        ("groups 2 stride 2", {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2, "stride": 2, "padding": 1}, (2, 4, 6, 6)),
        ("depthwise", {"in_channels": 5, "out_channels": 5, "kernel_size": 3, "groups": 5, "padding": 1}, (2, 5, 6, 6)),
        ("depthwise multiplier 2", {"in_channels": 3, "out_channels": 6, "kernel_size": 3, "groups": 3, "padding": 1, "bias": False}, (2, 3, 6, 6)),
        ("1x1", {"in_channels": 6, "out_channels": 4, "kernel_size": 1}, (2, 6, 5, 4)),
        ("1x1 stride 2", {"in_channels": 6, "out_channels": 4, "kernel_size": 1, "stride": 2}, (2, 6, 5, 4)),
        ("same, even kernel", {"in_channels": 2, "out_channels": 3, "kernel_size": 4, "padding": "same"}, (2, 2, 6, 6)),
        ("padding larger than kernel", {"in_channels": 8, "out_channels": 2, "kernel_size": 2, "padding": 3}, (1, 8, 4, 4)),
        ("5x5 whole input", {"in_channels": 2, "out_channels": 3, "kernel_size": 5}, (3, 2, 5, 5)),
    ]
    for name, params, shape in conv:
        torch_layer(name, "Conv2d", params, uniform(*shape))
    ties = lambda *shape: torch.round(uniform(*shape) * 3) / 2
    pools = [
        ("2", {"kernel_size": 2}, (2, 3, 6, 4)), ("2 odd", {"kernel_size": 2}, (2, 2, 7, 5)), ("3", {"kernel_size": 3}, (2, 2, 9, 6)),
        ("3 stride 2 padding 1", {"kernel_size": 3, "stride": 2, "padding": 1}, (2, 3, 8, 7)), ("3 stride 1", {"kernel_size": 3, "stride": 1}, (1, 2, 6, 6)),
        ("2,3", {"kernel_size": [2, 3]}, (2, 2, 6, 6)), ("2 stride 3", {"kernel_size": 2, "stride": 3}, (1, 2, 8, 8)),
    ]
    for name, params, shape in pools:
        torch_layer(name, "MaxPool2d", params, uniform(*shape))
        torch_layer(name + " with ties", "MaxPool2d", params, ties(*shape))
        torch_layer(name, "AvgPool2d", params, uniform(*shape))
    torch_layer("padding not counted", "AvgPool2d", {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}, uniform(2, 2, 7, 7))
    for name, kernel in [("2", 2), ("3 stride 2", 3)]:
        p = {"kernel_size": kernel, "stride": 2}
        module_case(f"ReLU then MaxPool2d {name}", chain([tl("ReLU"), ("MaxPool2d", p, nn.MaxPool2d(**p))]), {"x": ties(2, 3, 8, 8)}, {"y": "n1"})
    for size in [1, [2, 3]]:
        torch_layer(f"{size}", "AdaptiveAvgPool2d", {"output_size": size}, uniform(2, 3, 6, 6))
    for mode in ["train", "eval"]:
        bn = nn.BatchNorm2d(3)
        with torch.no_grad():
            bn.weight.copy_(uniform(3)), bn.bias.copy_(uniform(3)), bn.running_mean.copy_(uniform(3)), bn.running_var.copy_(uniform(3, low=0.5, high=2))
        layer_case(f"BatchNorm2d {mode}", "BatchNorm2d", {"num_features": 3}, uniform(4, 3, 5, 4) + 0.3, bn, mode)
    torch_layer("not affine", "BatchNorm2d", {"num_features": 2, "affine": False, "momentum": 0.3, "eps": 1e-3}, uniform(3, 2, 4, 4))
    for name, params, shape in [("last", {"normalized_shape": 6}, (3, 6)), ("last of three", {"normalized_shape": [4]}, (2, 3, 4)), ("two", {"normalized_shape": [3, 4]}, (2, 3, 4)),
                                ("not affine", {"normalized_shape": 5, "elementwise_affine": False, "eps": 1e-3}, (4, 5))]:
        ln = nn.LayerNorm(**params)
        with torch.no_grad():
            for p in ln.parameters():
                p.add_(uniform(*p.shape))
        layer_case(f"LayerNorm {name}", "LayerNorm", params, uniform(*shape), ln)
    torch_layer("default", "Flatten", {}, uniform(2, 3, 4))
    torch_layer("2..3", "Flatten", {"start_dim": 2, "end_dim": 3}, uniform(2, 3, 2, 4))
    layer_case("Reshape 2,6", "Reshape", {"shape": "2,6"}, uniform(3, 12), lambda x: x.reshape(x.shape[0], 2, 6))
    layer_case("Reshape -1", "Reshape", {"shape": "-1"}, uniform(3, 2, 4), lambda x: x.reshape(x.shape[0], -1))
    layer_case("SelectIndex", "SelectIndex", {"dim": 1, "index": 2}, uniform(3, 4, 2), lambda x: x.select(1, 2))
    torch_layer("plain", "Embedding", {"num_embeddings": 7, "embedding_dim": 4}, torch.randint(0, 7, (3, 5)), integer=True)
    torch_layer("padding", "Embedding", {"num_embeddings": 6, "embedding_dim": 3, "padding_idx": 2}, torch.randint(0, 6, (4, 4)), integer=True)
    torch_layer("large vocabulary", "Embedding", {"num_embeddings": 600, "embedding_dim": 2}, torch.randint(0, 600, (40, 100)), integer=True)
    for layer in ["ReLU", "GELU", "Sigmoid", "Tanh", "LeakyReLU", "ELU", "SiLU", "Mish", "SELU", "PReLU", "Hardswish"]:
        torch_layer("", layer, {}, uniform(3, 5, low=-4, high=4))
    torch_layer("", "Softmax", {"dim": -1}, uniform(3, 5, low=-4, high=4))
    merges = [("Add", {}, 3, lambda *a: a[0] + a[1] + a[2]), ("Multiply", {}, 3, lambda *a: a[0] * a[1] * a[2]), ("Subtract", {}, 2, lambda a, b: a - b),
              ("Mean", {}, 3, lambda *a: torch.stack(a, 0).mean(0)), ("Concat", {"dim": 1}, 2, lambda *a: torch.cat(a, 1)), ("Stack", {"dim": 1}, 2, lambda *a: torch.stack(a, 1))]
    for layer, params, count, run in merges:
        names = ["a", "b", "c"][:count]
        module_case(f"{layer}", [["l", layer, params, names, run]], {n: uniform(2, 3, 4) for n in names}, {"y": "l"})
    for heads, shape in [(1, (2, 3, 4)), (2, (3, 5, 8)), (4, (1, 6, 8))]:
        mha = nn.MultiheadAttention(shape[2], heads, batch_first=True)
        with torch.no_grad():
            mha.in_proj_bias.copy_(uniform(*mha.in_proj_bias.shape)), mha.out_proj.bias.copy_(uniform(shape[2]))
        run = SelfAttention(mha)
        case_count = len(CASES)
        layer_case(f"MultiHeadAttention {heads} heads", "MultiHeadAttention", {"embed_dim": shape[2], "num_heads": heads, "batch_first": True}, uniform(*shape), run)
        rename(CASES[case_count], "l.inner.", "l.")
    cross = nn.MultiheadAttention(8, 2)
    with torch.no_grad():
        cross.in_proj_bias.copy_(uniform(24))
    count = len(CASES)
    nodes = [["l", "MultiHeadAttention", {"embed_dim": 8, "num_heads": 2}, ["q", "k", "v"], CrossAttention(cross)]]
    nodes += [["out", "Add", {}, ["l#0", "zero"], lambda a, b: a[0] + b], ["shares", "Add", {}, ["l#1", "zero"], lambda a, b: a[1] + b]]
    module_case("MultiHeadAttention of three inputs, sequence first, with its weights", nodes, {"q": uniform(4, 2, 8), "k": uniform(5, 2, 8), "v": uniform(5, 2, 8), "zero": torch.zeros(1)},
                {"y": "out", "shares": "shares"})
    rename(CASES[count], "l.inner.", "l.")
    # ---- losses
    labels = lambda *shape, classes=5: torch.randint(0, classes, shape)
    weight = [0.5, 1.0, 2.0, 0.25, 1.5]
    ce = lambda **k: (lambda x, t: F.cross_entropy(x, t, **k))
    loss_case("mean", {"type": "CrossEntropy"}, uniform(6, 5, low=-3, high=3), labels(6), ce())
    loss_case("sum", {"type": "CrossEntropy", "reduction": "sum"}, uniform(4, 5), labels(4), ce(reduction="sum"))
    loss_case("none", {"type": "CrossEntropy", "reduction": "none"}, uniform(4, 5), labels(4), ce(reduction="none"))
    loss_case("images", {"type": "CrossEntropy"}, uniform(2, 5, 3, 4), labels(2, 3, 4), ce())
    loss_case("label smoothing", {"type": "CrossEntropy", "labelSmoothing": 0.1}, uniform(6, 5), labels(6), ce(label_smoothing=0.1))
    loss_case("ignore index", {"type": "CrossEntropy", "ignoreIndex": 1}, uniform(8, 5), labels(8), ce(ignore_index=1))
    loss_case("class weight", {"type": "CrossEntropy", "weight": weight}, uniform(8, 5), labels(8), ce(weight=torch.tensor(weight)))
    loss_case("all together", {"type": "CrossEntropy", "weight": weight, "labelSmoothing": 0.2, "ignoreIndex": 3}, uniform(9, 5), labels(9),
              ce(weight=torch.tensor(weight), label_smoothing=0.2, ignore_index=3))
    for reduction in ["mean", "sum", "none"]:
        loss_case(reduction, {"type": "MSE", "reduction": reduction}, uniform(4, 3), uniform(4, 3), lambda x, t: F.mse_loss(x, t, reduction=reduction))
        loss_case(reduction, {"type": "BCEWithLogits", "reduction": reduction}, uniform(4, 3, low=-6, high=6), torch.rand(4, 3),
                  lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction=reduction))
    loss_case("pos weight", {"type": "BCEWithLogits", "posWeight": [0.5, 2.0, 3.0]}, uniform(4, 3), torch.rand(4, 3).round(),
              lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=torch.tensor([0.5, 2.0, 3.0])))
    ops()
    training()
    write()


class SelfAttention(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x, x, x, need_weights=False)[0]


class CrossAttention(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, query, key, value):
        return self.inner(query, key, value)


def rename(case, old, new):
    for part in ["weights", "gradients", "buffers", "after"]:
        if part in case:
            case[part] = {k.replace(old, new): v for k, v in case[part].items()}


def ops():
    binary = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum, "minimum": torch.minimum}
    for op, run in binary.items():
        for a, b in [((2, 3), (2, 3)), ((2, 3, 4), (3, 1)), ((4,), (2, 1))]:
            op_case(f"{a} {b}", op, {}, [uniform(*a), uniform(*b, low=0.5, high=2)], run)
    op_case("alpha", "add", {"alpha": 2.5}, [uniform(2, 3), uniform(2, 3)], lambda a, b: torch.add(a, b, alpha=2.5))
    op_case("exponent", "pow", {"exponent": 3}, [uniform(2, 3)], lambda a: a**3)
    for op in ["equal", "greater", "less"]:
        run = {"equal": torch.eq, "greater": torch.gt, "less": torch.lt}[op]
        op_case("", op, {}, [torch.randint(0, 3, (4, 4)).float(), torch.randint(0, 3, (4, 4)).float()], lambda a, b: run(a, b).long(), differentiable=False)
    for op, low in {"neg": -1, "abs": -1, "exp": -1, "log": 0.2, "sqrt": 0.2, "rsqrt": 0.2, "sin": -3, "cos": -3, "erf": -2}.items():
        op_case("", op, {}, [uniform(3, 4, low=low, high=3)], getattr(torch, op))
    op_case("", "clamp", {"min": -0.3, "max": 0.5}, [uniform(4, 5)], lambda a: a.clamp(-0.3, 0.5))
    op_case("", "lerp", {"weight": 0.3}, [uniform(3, 4), uniform(3, 4)], lambda a, b: torch.lerp(a, b, 0.3))
    op_case("", "affine", {"scale": 2, "shift": -1}, [uniform(3, 4)], lambda a: a * 2 - 1)
    for f in ["relu", "gelu", "sigmoid", "tanh", "leaky_relu", "elu", "silu", "mish", "selu", "hardswish"]:
        op_case(f, "activation", {"function": f}, [uniform(3, 4, low=-4, high=4)], getattr(torch, f) if f in ("sigmoid", "tanh") else getattr(F, f))
    op_case("softmax", "activation", {"function": "softmax"}, [uniform(3, 4)], lambda a: torch.softmax(a, -1))
    op_case("prelu", "activation", {"function": "prelu"}, [uniform(3, 4)], lambda a: F.prelu(a, torch.tensor([0.25])))
    for dims, keep in [(None, False), (1, True), ([0, 2], False), (-1, False)]:
        attrs = {k: v for k, v in {"dim": dims, "keepdim": keep}.items() if v is not None}
        x = uniform(2, 3, 4)
        reduce = lambda f: (lambda a: f(a) if dims is None else f(a, dim=dims, keepdim=keep))
        op_case(f"{dims} {keep}", "sum", attrs, [x], reduce(torch.sum))
        op_case(f"{dims} {keep}", "mean", attrs, [x], reduce(torch.mean))
        op_case(f"{dims} {keep}", "amax", attrs, [x], (lambda a: torch.amax(a, dim=(0, 1, 2))) if dims is None else (lambda a: torch.amax(a, dim=dims, keepdim=keep)))
        op_case(f"{dims} {keep}", "var", {**attrs, "correction": 1}, [x], (lambda a: torch.var(a)) if dims is None else (lambda a: torch.var(a, dim=dims, keepdim=keep)))
        op_case(f"{dims} {keep}", "norm", attrs, [x], (lambda a: torch.linalg.vector_norm(a)) if dims is None else (lambda a: torch.linalg.vector_norm(a, dim=dims, keepdim=keep)))
    op_case("1", "argmax", {"dim": 1}, [uniform(3, 4)], lambda a: a.argmax(1), differentiable=False)
    op_case("flat", "argmax", {}, [uniform(3, 4)], lambda a: a.argmax(), differentiable=False)
    op_case("keepdim", "argmin", {"dim": 0, "keepdim": True}, [uniform(3, 4)], lambda a: a.argmin(0, keepdim=True), differentiable=False)
    op_case("", "cumsum", {"dim": 1}, [uniform(2, 4)], lambda a: a.cumsum(1))
    op_case("", "topk", {"dim": 1, "k": 2}, [uniform(3, 5)], lambda a: torch.topk(a, 2, 1), outputs=2)
    op_case("descending", "sort", {"dim": 1, "descending": True}, [uniform(3, 5)], lambda a: torch.sort(a, 1, True), outputs=2)
    for a, b in [((3, 4), (4, 2)), ((2, 3, 4), (4, 2)), ((2, 3, 4), (2, 4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2))]:
        op_case(f"{a} {b}", "matmul", {}, [uniform(*a), uniform(*b)], torch.matmul)
    op_case("-1", "reshape", {"shape": [2, -1]}, [uniform(4, 3)], lambda a: a.reshape(2, -1))
    op_case("", "permute", {"dims": [2, 0, 1]}, [uniform(2, 3, 4)], lambda a: a.permute(2, 0, 1))
    op_case("all", "squeeze", {}, [uniform(1, 3, 1)], lambda a: a.squeeze())
    op_case("0", "squeeze", {"dim": 0}, [uniform(1, 3, 1)], lambda a: a.squeeze(0))
    op_case("", "unsqueeze", {"dim": -1}, [uniform(2, 3)], lambda a: a.unsqueeze(-1))
    op_case("", "expand", {"shape": [2, 3, 4]}, [uniform(3, 1)], lambda a: a.expand(2, 3, 4))
    op_case("", "concat", {"dim": 1}, [uniform(2, 3), uniform(2, 1), uniform(2, 2)], lambda *a: torch.cat(a, 1))
    op_case("", "stack", {"dim": 1}, [uniform(2, 3), uniform(2, 3)], lambda *a: torch.stack(a, 1))
    op_case("uneven", "chunk", {"dim": 1, "chunks": 3}, [uniform(2, 7)], lambda a: torch.chunk(a, 3, 1), outputs=3)
    op_case("mixed", "slice", {"ranges": [{"index": 1}, {"start": 1, "stop": 4}, {"start": 0, "step": 2}]}, [uniform(3, 5, 6)], lambda a: a[1, 1:4, 0::2])
    op_case("", "indexSelect", {"dim": 1}, [uniform(3, 5), torch.tensor([4, 0, 4])], lambda a, i: torch.index_select(a, 1, i))
    op_case("", "gather", {"dim": 1}, [uniform(3, 5), torch.tensor([[0, 0], [4, 1], [2, 2]])], lambda a, i: torch.gather(a, 1, i))
    op_case("", "flip", {"dims": [1]}, [uniform(2, 4)], lambda a: a.flip(1))
    op_case("", "pad", {"pads": [1, 2, 0, 1], "value": 0.5}, [uniform(2, 3)], lambda a: F.pad(a, [1, 2, 0, 1], value=0.5))
    op_case("0", "softmax", {"dim": 0}, [uniform(4, 3)], lambda a: torch.softmax(a, 0))
    op_case("1", "logSoftmax", {"dim": 1}, [uniform(4, 3)], lambda a: torch.log_softmax(a, 1))
    op_case("", "oneHot", {"classes": 4}, [torch.tensor([0, 3, 1])], lambda a: F.one_hot(a, 4), differentiable=False)
    op_case("stride 2", "conv2d", {"stride": 2, "padding": 1}, [uniform(2, 3, 6, 6), uniform(4, 3, 3, 3), uniform(4)], lambda x, w, b: F.conv2d(x, w, b, 2, 1))
    op_case("", "maxPool2d", {"kernelSize": 3, "stride": 2, "padding": 1}, [uniform(2, 2, 7, 7)], lambda a: F.max_pool2d(a, 3, 2, 1))
    op_case("", "avgPool2d", {"kernelSize": 2}, [uniform(2, 2, 6, 6)], lambda a: F.avg_pool2d(a, 2))
    op_case("nearest", "upsample", {"mode": "nearest", "scaleFactor": 2}, [uniform(1, 2, 3, 4)], lambda a: F.interpolate(a, scale_factor=2, mode="nearest"))
    op_case("bilinear", "upsample", {"mode": "bilinear", "scaleFactor": 2}, [uniform(1, 2, 3, 4)], lambda a: F.interpolate(a, scale_factor=2, mode="bilinear", align_corners=False))


def training():
    optimizers = [
        ("SGD", {"type": "SGD", "lr": 0.1}, lambda p: torch.optim.SGD(p, lr=0.1)),
        ("SGD momentum", {"type": "SGD", "lr": 0.05, "momentum": 0.9, "weightDecay": 0.01}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01)),
        ("SGD dampening", {"type": "SGD", "lr": 0.05, "momentum": 0.8, "dampening": 0.3}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, dampening=0.3)),
        ("SGD Nesterov", {"type": "SGD", "lr": 0.05, "momentum": 0.9, "nesterov": True}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
        ("Adam", {"type": "Adam", "lr": 0.01}, lambda p: torch.optim.Adam(p, lr=0.01)),
        ("Adam decay amsgrad", {"type": "Adam", "lr": 0.02, "betas": [0.8, 0.95], "eps": 1e-6, "weightDecay": 0.1, "amsgrad": True},
         lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1, amsgrad=True)),
        ("AdamW", {"type": "AdamW", "lr": 0.02, "weightDecay": 0.1}, lambda p: torch.optim.AdamW(p, lr=0.02, weight_decay=0.1)),
    ]
    for name, spec, make in optimizers:
        for clip in [None, 0.5] if name in ("SGD", "Adam") else [None]:
            training_case(f"{name}{' clipped' if clip else ''}", chain([tl("Linear", in_features=4, out_features=6), tl("Tanh"), tl("Linear", in_features=6, out_features=3)]),
                          {"x": uniform(8, 4)}, uniform(8, 3), {"type": "MSE"}, nn.MSELoss(), spec, make, 12, clip)
    training_case("convolutional network", chain([tl("Conv2d", in_channels=1, out_channels=4, kernel_size=3, padding=1, bias=False), tl("BatchNorm2d", num_features=4), tl("ReLU"), tl("MaxPool2d", kernel_size=2),
                  tl("Conv2d", in_channels=4, out_channels=6, kernel_size=3, padding=1), tl("ReLU"), tl("MaxPool2d", kernel_size=2), tl("Flatten"), tl("Linear", in_features=24, out_features=5)]),
                  {"x": uniform(8, 1, 8, 8)}, torch.randint(0, 5, (8,)), {"type": "CrossEntropy"}, nn.CrossEntropyLoss(), {"type": "Adam", "lr": 0.005}, lambda p: torch.optim.Adam(p, lr=0.005), 10)
    mha = SelfAttention(nn.MultiheadAttention(8, 2, batch_first=True))
    nodes = [["n1", "LayerNorm", {"normalized_shape": 8}, ["x"], nn.LayerNorm(8)], ["at", "MultiHeadAttention", {"embed_dim": 8, "num_heads": 2, "batch_first": True}, ["n1"], mha], ["r1", "Add", {}, ["x", "at"], lambda a, b: a + b],
             ["n2", "LayerNorm", {"normalized_shape": 8}, ["r1"], nn.LayerNorm(8)], ["f1", "Linear", {"in_features": 8, "out_features": 16}, ["n2"], nn.Linear(8, 16)], ["ge", "GELU", {}, ["f1"], nn.GELU()],
             ["f2", "Linear", {"in_features": 16, "out_features": 8}, ["ge"], nn.Linear(16, 8)], ["r2", "Add", {}, ["r1", "f2"], lambda a, b: a + b]]
    count = len(CASES)
    training_case("transformer block", nodes, {"x": uniform(3, 5, 8)}, uniform(3, 5, 8), {"type": "MSE"}, nn.MSELoss(), {"type": "SGD", "lr": 0.05, "momentum": 0.9}, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), 10)
    rename(CASES[count], "at.inner.", "at.")


def write():
    """safetensors: u64 header length, JSON header, row-major little-endian data."""
    header, offset, chunks = {"__metadata__": {"torch": torch.__version__, "script": "make_golden.py"}}, 0, []
    for name, tensor in TENSORS.items():
        data = bytes(tensor.numpy().tobytes())
        header[name] = {"dtype": "F32" if tensor.dtype == torch.float32 else "I64", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, "golden.safetensors"), "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))
    with open(os.path.join(HERE, "golden.json"), "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(c, sort_keys=True) for c in CASES) + "\n]\n")
    digest = hashlib.sha256(b"".join(chunks)).hexdigest()[:16]
    print(f"{len(CASES)} cases, {len(TENSORS)} tensors, {offset} bytes, data {digest}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
