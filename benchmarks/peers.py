#!/usr/bin/env python3
"""Times the standard workloads on the peers that are installed (torch eager, torch.compile, jax.jit).

Usage: peers.py --device cuda|cpu [--threads N] [--scale S] [--only a,b] [--peers torch,inductor,jax] [--json OUT]

One row per workload and peer: cold_s (first call: trace and compile), best_us and median_us of the
repeated calls. The sizes below are the contract: a benchmark that compares against these rows uses the
same shapes, dtypes and distribution of inputs (standard normal unless said), inputs already on the device,
outputs materialised on the device and waited for.
"""
import argparse, json, math, os, statistics, sys, time

ap = argparse.ArgumentParser()
ap.add_argument("--device", default="cpu")
ap.add_argument("--threads", type=int, default=0)
ap.add_argument("--scale", type=float, default=1.0, help="shrinks the element counts (CPU runs use 0.25)")
ap.add_argument("--only", default="")
ap.add_argument("--peers", default="torch,inductor,jax")
ap.add_argument("--seconds", type=float, default=1.0, help="time budget for the repeated calls of one row")
ap.add_argument("--json", default="")
args = ap.parse_args()
if args.threads:
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
if args.device == "cpu":
    os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
GPU = args.device == "cuda"
HALF = "bfloat16" if GPU else "float32"  # matrix work: bf16 on the GPU, f32 on the CPU


def n(k):
    return int(k * args.scale)


def spec():
    """name -> (input specs [(shape, dtype)], key of the formula)"""
    N26, N24 = n(1 << 26), n(1 << 24)
    R = n(8192)
    w = {}
    w["chain"] = [((N26,), "float32")] * 2                     # (x*2+y)*x-y
    w["gelu_tanh"] = [((N26,), "float32")]
    w["black_scholes"] = [((N24,), "float32")] * 3             # S, K, T in (0.1..)
    w["softmax"] = [((R, 4096), "float32")]
    w["layernorm"] = [((R, 4096), "float32"), ((4096,), "float32"), ((4096,), "float32")]
    w["rmsnorm_half"] = [((R, 4096), "bfloat16"), ((4096,), "bfloat16")]
    w["sum_all"] = [((N26,), "float32")]
    w["sum_axis0"] = [((R, 4096), "float32")]
    w["var_axis1"] = [((R, 4096), "float32")]
    w["broadcast_outer"] = [((R, 1), "float32"), ((1, 4096), "float32")]  # exp(-(a-b)^2) written out
    w["pairwise_nbody"] = [((4096, 3), "float32"), ((4096,), "float32")]
    w["transpose_add"] = [((4096, 4096), "float32")] * 2       # a.T + b
    w["tiny_chain32"] = [((1024,), "float32")] * 2
    w["mlp"] = [((512, 1024), HALF), ((1024, 4096), HALF), ((4096,), HALF), ((4096, 1024), HALF), ((1024,), HALF)]
    w["mlp_batch1"] = [((1, 1024), HALF), ((1024, 4096), HALF), ((4096,), HALF), ((4096, 1024), HALF), ((1024,), HALF)]
    w["attention"] = [((2, 16, 1024, 64), HALF)] * 3
    return w


def formulas(xp, erf, f32):
    """The workloads, written once over a numpy-like namespace."""
    def chain(x, y): return (x * 2.0 + y) * x - y
    def gelu_tanh(x): return 0.5 * x * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    def black_scholes(s, k, t):
        s, k, t = xp.abs(s) + 0.5, xp.abs(k) + 0.5, xp.abs(t) + 0.1
        r, v = 0.02, 0.3
        sq = v * xp.sqrt(t)
        d1 = (xp.log(s / k) + (r + 0.5 * v * v) * t) / sq
        d2 = d1 - sq
        c1 = 0.5 * (1.0 + erf(d1 * 0.70710678)); c2 = 0.5 * (1.0 + erf(d2 * 0.70710678))
        e = k * xp.exp(-r * t)
        return s * c1 - e * c2, e * (1.0 - c2) - s * (1.0 - c1)
    def softmax(x):
        e = xp.exp(x - x.max(1, keepdims=True)[0] if hasattr(x.max(1, keepdims=True), "values") else x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)
    def layernorm(x, g, b):
        m = x.mean(1, keepdims=True); d = x - m
        v = (d * d).mean(1, keepdims=True)
        return d / xp.sqrt(v + 1e-5) * g + b
    def rmsnorm_half(x, g):
        xf = f32(x)
        y = xf / xp.sqrt((xf * xf).mean(1, keepdims=True) + 1e-5)
        return y.to(x.dtype) * g if hasattr(y, "to") and not hasattr(y, "astype") else y.astype(x.dtype) * g
    def sum_all(x): return x.sum()
    def sum_axis0(x): return x.sum(0)
    def var_axis1(x):
        d = x - x.mean(1, keepdims=True)
        return (d * d).mean(1)
    def broadcast_outer(a, b): return xp.exp(-(a - b) * (a - b))
    def pairwise_nbody(p, m):
        d = p[None, :, :] - p[:, None, :]
        r2 = (d * d).sum(2) + 1e-3
        w = m[None, :] / (r2 * xp.sqrt(r2))
        return (d * w[:, :, None]).sum(1)
    def transpose_add(a, b): return a.T + b
    def tiny_chain32(x, y):
        for i in range(8):
            x = x * y; x = x + 0.5; x = xp.tanh(x); x = x - y
        return x
    def mlp(x, w1, b1, w2, b2):
        h = x @ w1 + b1
        h = 0.5 * h * (1.0 + xp.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
        return h @ w2 + b2 + x
    def attention(q, k, v):
        s = (q @ k.swapaxes(-1, -2)) * 0.125
        s = s - (s.amax(-1, keepdim=True) if hasattr(s, "amax") else s.max(-1, keepdims=True))
        e = xp.exp(s)
        return (e / e.sum(-1, keepdims=True)) @ v
    d = dict(locals()); d["mlp_batch1"] = mlp
    return d


def clock(call, wait):
    t = time.perf_counter(); wait(call()); cold = time.perf_counter() - t
    for _ in range(3):
        wait(call())
    times, end = [], time.perf_counter() + args.seconds
    while (time.perf_counter() < end and len(times) < 2000) or len(times) < 5:
        t = time.perf_counter(); wait(call()); times.append(time.perf_counter() - t)
    return dict(cold_s=round(cold, 4), best_us=round(min(times) * 1e6, 2), median_us=round(statistics.median(times) * 1e6, 2))


rows = []


def emit(name, peer, result):
    rows.append(dict(workload=name, peer=peer, device=args.device, threads=args.threads, scale=args.scale, **result))
    print(f"{name:18s} {peer:10s} " + " ".join(f"{k}={v}" for k, v in result.items()), flush=True)


want = [s for s in args.only.split(",") if s] or list(spec())
peers = args.peers.split(",")
if "torch" in peers or "inductor" in peers:
    import torch
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    dev = torch.device(args.device)
    wait = (lambda r: torch.cuda.synchronize()) if GPU else (lambda r: None)
    F = formulas(torch, torch.erf, lambda x: x.float())
    F["softmax"] = lambda x: torch.softmax(x, 1)
    F["rmsnorm_half"] = lambda x, g: (x.float() / torch.sqrt((x.float() ** 2).mean(1, keepdim=True) + 1e-5)).to(x.dtype) * g
    for name in want:
        ins = [torch.randn(s, device=dev).to(getattr(torch, t)) for s, t in spec()[name]]
        for peer in [p for p in ("torch", "inductor") if p in peers]:
            try:
                f = F[name]
                if peer == "inductor":
                    torch._dynamo.reset(); f = torch.compile(f)
                with torch.no_grad():
                    emit(name, peer, clock(lambda: f(*ins), wait))
            except Exception as e:
                emit(name, peer, dict(error=type(e).__name__ + ": " + str(e)[:80].replace("\n", " ")))
        if GPU and "graph" in peers and name in ("tiny_chain32", "mlp_batch1"):
            f = torch.compile(F[name], mode="reduce-overhead")
            with torch.no_grad():
                emit(name, "inductor-cudagraph", clock(lambda: f(*ins), wait))
        if "sdpa" in peers and name == "attention":
            import torch.nn.functional as nnf
            emit(name, "sdpa", clock(lambda: nnf.scaled_dot_product_attention(*ins), wait))
    del ins
if "jax" in peers:
    import jax, jax.numpy as jnp
    F = formulas(jnp, jax.scipy.special.erf, lambda x: x.astype(jnp.float32))
    for name in want:
        try:
            ins = [jax.random.normal(jax.random.PRNGKey(i), s, dtype="float32").astype(t) for i, (s, t) in enumerate(spec()[name])]
            f = jax.jit(F[name])
            emit(name, "jax", clock(lambda: f(*ins), jax.block_until_ready))
        except Exception as e:
            emit(name, "jax", dict(error=type(e).__name__ + ": " + str(e)[:80].replace("\n", " ")))
if args.json:
    json.dump(rows, open(args.json, "w"), indent=1)
