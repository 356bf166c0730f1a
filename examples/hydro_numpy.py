#!/usr/bin/python3
"""examples/hydro_numpy.py - the gas of examples/hydro, in NumPy.

    python3 -m tidemark run examples/hydro_numpy.py [--cycles N] [--count] [--profile] [N]

The method is that of the C program, and so are its numbers.  The arrays with a name are
told to tidemark; what NumPy makes to work out an expression is not, and shows up beside
them.
"""
import argparse
import collections
import json

import numpy
import tidemark

GAMMA = 1.4
COURANT = 0.4
GHOSTS = 2
FIELDS = DENSITY, MOMENTUM_X, MOMENTUM_Y, MOMENTUM_Z, ENERGY = range(5)
RHO, ALONG, ACROSS, _, PRESSURE = FIELDS
AXES = "xyz"

made = collections.Counter()  # label -> arrays
made_bytes = collections.Counter()


def make(label, shape):
    """An array that tidemark knows by name."""
    array = tidemark.label(numpy.zeros(shape), label)
    made[label] += 1
    made_bytes[label] += array.nbytes
    return array


@tidemark.region("initialise")
def initialise(cells):
    """A hot ball in the middle of a box, at rest.  Indices: field, z, y, x."""
    gas = make("gas", (len(FIELDS), cells, cells, cells))
    place = (numpy.arange(cells) + 0.5 - 0.5 * cells) ** 2
    distance = numpy.sqrt(place[:, None, None] + place[:, None] + place) / cells
    gas[DENSITY] = 1.0
    gas[ENERGY] = numpy.where(distance < 0.15, 10.0, 0.1) / (GAMMA - 1.0)
    return gas


def pressure_of(gas):
    """From density, momenta and energy."""
    squares = gas[MOMENTUM_X] ** 2 + gas[MOMENTUM_Y] ** 2 + gas[MOMENTUM_Z] ** 2
    return (GAMMA - 1.0) * (gas[ENERGY] - 0.5 * squares / gas[DENSITY])


@tidemark.region("time_step")
def time_step(gas, width):
    """The longest time step that is stable."""
    sound = numpy.sqrt(GAMMA * pressure_of(gas) / gas[DENSITY])
    flow = numpy.abs(gas[MOMENTUM_X:ENERGY]).max(axis=0) / gas[DENSITY]
    return COURANT * width / (flow + sound).max()


@tidemark.region("primitives")
def primitives(swept):
    """What one sees of the cells, with mirrored ones beyond both walls."""
    *across, length = swept.shape
    seen = make("primitive", (*across, length + 2 * GHOSTS))
    inside = seen[..., GHOSTS:-GHOSTS]
    inside[RHO] = swept[DENSITY]
    inside[ALONG:PRESSURE] = swept[MOMENTUM_X:ENERGY] / swept[DENSITY]
    inside[PRESSURE] = pressure_of(swept)
    for ghost in range(GHOSTS):
        seen[..., GHOSTS - 1 - ghost] = inside[..., ghost]
        seen[..., -GHOSTS + ghost] = inside[..., -1 - ghost]
    seen[ALONG, ..., :GHOSTS] *= -1.0
    seen[ALONG, ..., -GHOSTS:] *= -1.0
    return seen


def cell_ends(seen, ratio):
    """The states at both ends of each cell, half a time step ahead."""
    steps = seen[..., 1:] - seen[..., :-1]
    before, after = steps[..., :-1], steps[..., 1:]
    smaller = numpy.where(numpy.abs(before) < numpy.abs(after), before, after)
    slope = numpy.where(before * after > 0.0, smaller, 0.0)
    at = seen[..., 1:-1]
    change = at[ALONG] * slope
    change[RHO] += at[RHO] * slope[ALONG]
    change[ALONG] += slope[PRESSURE] / at[RHO]
    change[PRESSURE] += GAMMA * at[PRESSURE] * slope[ALONG]
    middle = at - 0.5 * ratio * change
    return middle - 0.5 * slope, middle + 0.5 * slope


def conserve(state):
    """What a state holds, and what of that flows along the axis."""
    held = state[RHO] * state
    held[DENSITY] = state[RHO]
    motion = 0.5 * state[RHO] * (state[ALONG:PRESSURE] ** 2).sum(axis=0)
    held[ENERGY] = state[PRESSURE] / (GAMMA - 1.0) + motion
    flowing = state[ALONG] * held
    flowing[ALONG] += state[PRESSURE]
    flowing[ENERGY] += state[ALONG] * state[PRESSURE]
    return held, flowing


@tidemark.region("fluxes")
def fluxes(seen, ratio, name):
    """What passes between cells, after Harten, Lax and van Leer."""
    low, high = cell_ends(seen, ratio)
    left, right = high[..., :-1], low[..., 1:]
    flux = make(name, left.shape)
    sounds = [numpy.sqrt(GAMMA * s[PRESSURE] / s[RHO]) for s in (left, right)]
    slowest = numpy.minimum(left[ALONG] - sounds[0], right[ALONG] - sounds[1]).clip(max=0)
    fastest = numpy.maximum(left[ALONG] + sounds[0], right[ALONG] + sounds[1]).clip(min=0)
    held_left, from_left = conserve(left)
    held_right, from_right = conserve(right)
    flux[...] = (fastest * from_left - slowest * from_right +
                 fastest * slowest * (held_right - held_left)) / (fastest - slowest)
    return flux


def sweep(gas, axis, ratio):
    """What moves along one axis."""
    with tidemark.region("sweep_" + AXES[axis]):
        turned = [MOMENTUM_X + (axis + i) % 3 for i in range(3)]
        order = [DENSITY, *turned, ENERGY]
        swept = numpy.moveaxis(gas, 3 - axis, -1)[order]
        flux = fluxes(primitives(swept), ratio, "flux_" + AXES[axis])
        for field, passed in zip(order, flux):
            target = numpy.moveaxis(gas[field], 2 - axis, -1)
            target -= ratio * (passed[..., 1:] - passed[..., :-1])


def run(gas, cycles):
    """All cycles; the time that they took in the box."""
    width = 1.0 / gas.shape[-1]
    time = 0.0
    for cycle in tidemark.loop("cycle", range(cycles)):
        tidemark.event(cycle)
        step = time_step(gas, width)
        for axis in (0, 1, 2) if cycle % 2 == 0 else (2, 1, 0):
            sweep(gas, axis, step / width)
        time += step
    return time


def main():
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description="A blast in a box.")
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--count", action="store_true",
                        help="print how much each label allocated, as JSON")
    parser.add_argument("--profile", action="store_true",
                        help="print the density along x, and the time, as JSON")
    parser.add_argument("cells", type=int, nargs="?", default=32)
    options = parser.parse_args()
    with tidemark.region("main"):
        gas = initialise(options.cells)
        before = gas[DENSITY].sum()
        time = run(gas, options.cycles)
    middle = options.cells // 2
    if options.profile:
        print(json.dumps({"time": time, "density": list(gas[DENSITY, middle, middle])}))
    if options.count:
        print(json.dumps({"labels": [
            {"label": label, "calls": made[label], "bytes": made_bytes[label]}
            for label in made]}))
    if not options.profile and not options.count:
        drift = abs(gas[DENSITY].sum() - before) / before
        print(f"{options.cycles} cycles to t = {time:.6f}; "
              f"mass changed by {drift:.1e} of itself")


if __name__ == "__main__":
    main()
