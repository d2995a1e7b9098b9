"""Rows and ratios of torch_speed.py: what was measured of each way, and whether its results are those of eager."""
import math
import statistics

TOLERANCES = {"loss": 0.005, "norm": 0.03, "samples": 0.15}
# Norms over batches of noise, 53 behind each other: the first gradients in bf16 are 0.4 of their norm apart from those in f32.
LOOSE = {name: {"samples": 0.7} for name in ("resnet50 training", "mobilenet training")}


def apart(one, other):
    """How far samples are apart, in the other's norm: the worst of the tensors."""
    worst = 0.0
    for ours, theirs in zip(one["samples"], other["samples"]):
        far = math.dist(ours, theirs)
        worst = max(worst, far / max(math.hypot(*theirs), 1e-30)) if far == far else math.inf
    return worst


def differences(model, found, eager):
    """Name of a number -> how far it is from eager's, where that is more than is allowed."""
    far = {key: abs(found[key] - eager[key]) / max(abs(eager[key]), 1e-30) for key in ("loss", "norm")}
    far["samples"] = apart(found, eager)
    found["apart"] = far
    allowed = {**TOLERANCES, **LOOSE.get(model, {})}
    return {key: value for key, value in far.items() if not value <= allowed[key]}


def milliseconds(value):
    return "-" if value is None else f"{value:.2f}"


def row(model, way, found, eager):
    if "failed" in found:
        return f"{model:19} {way:13} FAILED {found['failed']}"
    wrong = differences(model, found, eager) if eager else {}
    right = "ok" if eager else "no eager beside it"
    verdict = " ".join(f"{key} DIFFERS by {value:.3g}" for key, value in wrong.items()) or right
    peak, taken = ("-" if found[key] is None else f"{found[key] / 1e9:.2f}" for key in ("peak", "taken"))
    warm = "" if found.get("warm") is None else f" warm {found['warm']:.2f} s"
    calls = found["calls"] if found["calls"] is not None else found.get("kernels", 0)
    return (f"{model:19} {way:13} {found['loss']:9.4f} {found['norm']:10.4f} {found['first']:8.2f} {found['step']:9.2f} "
            f"{milliseconds(found['events']):>9} {found['library']:9.2f} {found['others']:9.2f} {calls:8.0f} {peak:>7} "
            f"{taken:>7}  {verdict}{warm}")


HEAD = (f"{'model':19} {'way':13} {'loss':>9} {'norm':>10} {'first s':>8} {'step ms':>9} {'events':>9} {'libraries':>9} "
        f"{'others':>9} {'kernels':>8} {'peak GB':>7} {'taken':>7}")


def ratios_of(ways):
    """Best peer over ours of a step; ours over Inductor's of the rest."""
    good = {way: one for way, one in ways.items() if "failed" not in one}
    mine = {way: one for way, one in good.items() if way.startswith("twinloom")}
    peers = {way: one for way, one in good.items() if way not in mine}
    found = {}
    for way, ours in mine.items():
        if not peers:
            continue
        best = min(peers, key=lambda one: peers[one]["step"])
        ratios = {"best": best, "best peer / ours": peers[best]["step"] / ours["step"]}
        if "inductor" in peers:
            theirs = peers["inductor"]
            ratios.update({"inductor / ours": theirs["step"] / ours["step"],
                           "others ours / inductor": ours["others"] / theirs["others"],
                           "libraries ours / inductor": ours["library"] / max(theirs["library"], 1e-9),
                           "first call ours / inductor": ours["first"] / theirs["first"]})
            if ours.get("warm"):
                ratios["warm call ours, s"] = ours["warm"]
            if ours["peak"]:
                ratios["peak ours / inductor"] = ours["peak"] / theirs["peak"]
        found[way] = ratios
    return found


def show_model(model, ways):
    for way, ratios in ratios_of(ways).items():
        said = ", ".join(f"{key} {value:.2f}" for key, value in ratios.items() if key != "best")
        print(f"\n{model}, {way} (best peer: {ratios['best']}): {said}")
    for way in ways:
        found = ways[way]
        if way == "eager" or "failed" in found:
            continue
        print(f"  {way}: graphs {found['graphs']}, breaks {found['breaks']}, compiled kernels {found.get('kernels', 0)}; "
              f"slowest outside of libraries, ms and calls a step:")
        for name, one, calls in found["named"]:
            print(f"    {one:9.3f} {calls:6.1f}  {name[:150]}")
        if found.get("left"):
            print("    in PyTorch: " + ", ".join(f"{count} {operator} ({why})" for operator, why, count in found["left"]))


def show_means(results):
    logs = {}
    for ways in results.values():
        for way, ratios in ratios_of(ways).items():
            for key, value in ratios.items():
                if key != "best" and value > 0:
                    logs.setdefault((way, key), []).append(math.log(value))
    print("\ngeometric means")
    for (way, key), values in logs.items():
        print(f"  {way:13} {key}: {math.exp(statistics.mean(values)):.2f} of {len(values)} models, worst "
              f"{math.exp(min(values) if key.endswith('/ ours') else max(values)):.2f}")
